package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stageEnv says how far a process has got on its way into confinement: "init" is the first process in there,
// and "inside" the command.
const stageEnv = "MAYFLY_MUTATE_STAGE"

// confine returns in a process that can do no harm, whatever it starts, and otherwise with the exit status of
// that process. Without a guard, a program may replace a device, write over the user's files, or end
// processes that are not its own. In there only a new directory for temporary files and the cache of compiled
// packages can be written to, the devices are others, and no process outside can be seen. Nothing in there
// outlives the command.
func confine() (status int, inside bool, err error) {
	switch os.Getenv(stageEnv) {
	case "inside":
		return 0, true, os.Unsetenv(stageEnv)
	case "init":
		status, err := first()
		return status, false, err
	}
	temp, err := os.MkdirTemp("", "mutate-*")
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return 0, false, err
	}
	cmd, err := again("init")
	if err != nil {
		return 0, false, err
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	// An interrupt reaches the whole group, and the command in there ends by itself.
	signal.Ignore(os.Interrupt)
	if err := cmd.Start(); err != nil {
		return 0, false, fmt.Errorf("%w: %w", errUnconfined, err)
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if !exit.Exited() {
			return toolFailed, false, nil
		}
		return exit.ExitCode(), false, nil
	}
	return 0, false, err
}

// again returns this command once more, in another stage.
func again(stage string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), stageEnv+"="+stage)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd, nil
}

// first shuts the door, starts the command, and collects the processes whose parents have ended.
func first() (int, error) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return 0, fmt.Errorf("asking for the cache of go: %w", err)
	}
	// Modules that are not here yet could not be stored once the door is shut.
	if text, err := exec.Command("go", "list", "-deps", "-test", "./...").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("listing what is compiled: %w\n%s", err, text)
	}
	if err := shut([]string{os.TempDir(), strings.TrimSpace(string(cache))}); err != nil {
		return 0, fmt.Errorf("%w: %w", errUnconfined, err)
	}
	cmd, err := again("inside")
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case pid != cmd.Process.Pid:
		case status.Exited():
			return status.ExitStatus(), nil
		default:
			return toolFailed, nil
		}
	}
}

// shut makes everything read-only but the writable directories, and replaces /proc and /dev.
func shut(writable []string) error {
	mount := func(source, target, kind string, flags uintptr, data string) error {
		if err := unix.Mount(source, target, kind, flags, data); err != nil {
			return fmt.Errorf("mounting %s: %w", target, err)
		}
		return nil
	}
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for _, dir := range writable {
		if err := mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("making everything read-only: %w", err)
	}
	for _, dir := range writable {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("making %s writable: %w", dir, err)
		}
	}
	if err := mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	dev, err := os.MkdirTemp(writable[0], "dev-*")
	if err != nil {
		return err
	}
	if err := mount("dev", dev, "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return err
	}
	if err := devices(dev); err != nil {
		return err
	}
	if err := mount("devpts", filepath.Join(dev, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return err
	}
	if err := mount("shm", filepath.Join(dev, "shm"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return err
	}
	// A program that renames a file to a device's name must fail, as the device is gone for all that follow.
	if err := unix.MountSetattr(unix.AT_FDCWD, dev, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("making %s read-only: %w", dev, err)
	}
	return mount(dev, "/dev", "", unix.MS_MOVE, "")
}

// devices fills a directory with the devices that programs expect in /dev. Only the administrator may make
// devices; for others, the system's appear there, which they cannot change.
func devices(dev string) error {
	old := unix.Umask(0)
	defer unix.Umask(old)
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		path := filepath.Join(dev, name)
		if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err == nil {
			continue
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", path, err)
		}
	}
	errs := []error{os.Mkdir(filepath.Join(dev, "pts"), 0o755), os.Mkdir(filepath.Join(dev, "shm"), 0o755)}
	for _, link := range []string{"fd /proc/self/fd", "stdin /proc/self/fd/0", "stdout /proc/self/fd/1", "stderr /proc/self/fd/2", "ptmx pts/ptmx"} {
		name, to, _ := strings.Cut(link, " ")
		errs = append(errs, os.Symlink(to, filepath.Join(dev, name)))
	}
	return errors.Join(errs...)
}
