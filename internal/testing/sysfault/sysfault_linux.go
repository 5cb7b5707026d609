//go:build linux && (amd64 || arm64)

package sysfault

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// envStart is set for a process that is to become the program, and envReads too if reads are announced.
const envStart, envReads = "MAYFLY_TEST_SYSFAULT", "MAYFLY_TEST_SYSFAULT_READS"

// allowTrace is the variable that lets an ordinary user read the memory of the program, where the paths of
// its calls are.
const allowTrace = "MAYFLY_ALLOW_TRACE"

// start is the descriptor, in the process that is to become the program, of the socket over which it sends
// the descriptor that its calls are announced on.
const start = 3

// RunReads is Run for the calls that read from a descriptor or close it.
func RunReads(cmd *exec.Cmd, decide func(Call) syscall.Errno) error {
	cmd.Env = append(cmd.Environ(), envReads+"=1")
	return Run(cmd, decide)
}

// Run runs cmd, which must have no ExtraFiles, to its end. Before each call that changes a file or writes to
// a descriptor, it asks decide, one call at a time; decide returns the error with which the call fails, or 0
// if it is to take place. Calls of the processes that the program starts are not announced, and take place
// also when it has ended.
//
// wraps errors.ErrUnsupported and the program was not started.
func Run(cmd *exec.Cmd, decide func(Call) syscall.Errno) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	program, err := filepath.EvalSymlinks(cmd.Path)
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	self, err := os.Executable()
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	// Go's runtime interrupts system calls in order to preempt goroutines. They would be announced twice.
	cmd.Env = append(cmd.Environ(), envStart+"="+cmd.Path, "GODEBUG=asyncpreemptoff=1", allowTrace+"=1")
	cmd.Path, cmd.ExtraFiles = self, []*os.File{theirs}
	err = cmd.Start()
	if err = errors.Join(err, theirs.Close()); err != nil {
		return err
	}
	listener, err := receive(int(ours.Fd()))
	if err != nil {
		return errors.Join(fmt.Errorf("seccomp: %w", errors.ErrUnsupported), err, cmd.Wait())
	}
	w := &watch{fd: listener, program: program, decide: decide}
	go w.serve()
	err = cmd.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	return err
}

// receive returns the descriptor that comes over a socket.
func receive(socket int) (int, error) {
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	n, nOOB, _, _, err := unix.Recvmsg(socket, b, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:nOOB])
	if err != nil || n == 0 || len(messages) != 1 {
		return 0, errors.Join(errors.New("no descriptor came"), err)
	}
	list, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return list[0], nil
}

// Main becomes the program if Run has started this process, and returns otherwise.
func Main() {
	program := os.Getenv(envStart)
	if program == "" {
		return
	}
	runtime.LockOSThread() // the filter belongs to the thread
	err := become(program)
	fmt.Fprintln(os.Stderr, "sysfault:", err)
	os.Exit(125)
}

func become(program string) error {
	filter := calls(os.Getenv(envReads) != "")
	if err := errors.Join(os.Unsetenv(envStart), os.Unsetenv(envReads)); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(start, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(start)
	unix.CloseOnExec(int(fd))
	return syscall.Exec(program, os.Args, os.Environ())
}

// Places of the data that a filter can load, and the architectures whose calls have the numbers of package
// unix.
const (
	atNumber, atArch, atFlags = 0, 4, 16 + 2*8 // the flags of openat are its third argument
	archAMD64, archARM64      = 0xc000003e, 0xc00000b7
)

// calls returns the filter that announces the calls of names that read, or those that change something, and
// of openat those that may write.
func calls(reads bool) []unix.SockFilter {
	arch := uint32(archAMD64)
	if runtime.GOARCH == "arm64" {
		arch = archARM64
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	result := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	// unless skips that many instructions if the loaded value is not k.
	unless := func(k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip}
	}
	out := []unix.SockFilter{
		load(atArch), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1}, result(unix.SECCOMP_RET_ALLOW), load(atNumber),
	}
	for number, call := range names {
		if call.reads == reads && number != unix.SYS_OPENAT {
			out = append(out, unless(uint32(number), 1), result(unix.SECCOMP_RET_USER_NOTIF))
		}
	}
	if reads {
		return append(out, result(unix.SECCOMP_RET_ALLOW))
	}
	return append(out, unless(unix.SYS_OPENAT, 3), load(atFlags),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT, Jf: 1},
		result(unix.SECCOMP_RET_USER_NOTIF), result(unix.SECCOMP_RET_ALLOW))
}

// names are the calls that are announced, and how each names its file: by the descriptor in the first
// argument, or by the path in the argument of that index.
var names = map[uintptr]struct {
	name  string
	path  int // 0 for a descriptor
	reads bool
}{
	unix.SYS_WRITE: {name: "write"}, unix.SYS_PWRITE64: {name: "pwrite"}, unix.SYS_WRITEV: {name: "writev"},
	unix.SYS_FSYNC: {name: "fsync"}, unix.SYS_FDATASYNC: {name: "fdatasync"}, unix.SYS_FTRUNCATE: {name: "ftruncate"},
	unix.SYS_FALLOCATE: {name: "fallocate"}, unix.SYS_FCHMOD: {name: "fchmod"}, unix.SYS_FCHOWN: {name: "fchown"},
	unix.SYS_OPENAT: {name: "open", path: 1}, unix.SYS_MKDIRAT: {name: "mkdir", path: 1}, unix.SYS_UNLINKAT: {name: "unlink", path: 1},
	unix.SYS_FCHMODAT: {name: "chmod", path: 1}, unix.SYS_RENAMEAT: {name: "rename", path: 3}, unix.SYS_RENAMEAT2: {name: "rename", path: 3},
	unix.SYS_LINKAT: {name: "link", path: 3}, unix.SYS_SYMLINKAT: {name: "symlink", path: 2},
	unix.SYS_READ: {name: "read", reads: true}, unix.SYS_PREAD64: {name: "pread", reads: true}, unix.SYS_CLOSE: {name: "close", reads: true},
}

// notice is struct seccomp_notif, and answer struct seccomp_notif_resp.
type (
	notice struct {
		ID         uint64
		PID, Flags uint32
		Number     int32
		Arch       uint32
		At         uint64
		Args       [6]uint64
	}
	answer struct {
		ID    uint64
		Value int64
		Error int32
		Flags uint32
	}
)

// watch answers the announcements of a program.
type watch struct {
	fd      int
	program string

	mu     sync.Mutex // held while decide runs
	decide func(Call) syscall.Errno
	ended  bool // decide is not asked any more
}

// serve answers until the program and all processes that it has started have ended.
func (w *watch) serve() {
	defer unix.Close(w.fd)
	for {
		ready := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
		_, err := unix.Poll(ready, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || ready[0].Revents&unix.POLLIN == 0:
			return
		}
		var call notice
		switch control(w.fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)) {
		case 0:
		case unix.ENOENT, unix.EINTR:
			continue // the thread was killed meanwhile
		default:
			return
		}
		reply := answer{ID: call.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := w.verdict(&call); errno != 0 {
			reply = answer{ID: call.ID, Error: -int32(errno)}
		}
		control(w.fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&reply)) // the thread may have been killed
	}
}

func (w *watch) verdict(n *notice) syscall.Errno {
	what, ok := w.describe(n)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok || w.ended {
		return 0
	}
	return w.decide(what)
}

func control(fd int, request uintptr, p unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(p))
	return errno
}

// describe returns the description of a call, and false if it is not the program's.
func (w *watch) describe(n *notice) (Call, bool) {
	dir := fmt.Sprintf("/proc/%d", n.PID)
	if exe, err := os.Readlink(dir + "/exe"); err != nil || exe != w.program {
		return Call{}, false
	}
	of, ok := names[uintptr(n.Number)]
	if !ok {
		return Call{}, false
	}
	if of.path == 0 {
		link := fmt.Sprintf("%s/fd/%d", dir, int32(n.Args[0]))
		path, err := os.Readlink(link)
		c := Call{Name: of.name, Path: strings.TrimSuffix(path, " (deleted)")}
		if err == nil && strings.HasSuffix(of.name, "sync") {
			c.Synced, err = os.Stat(link)
		}
		return c, err == nil
	}
	path, err := text(dir+"/mem", int64(n.Args[of.path]))
	if err != nil {
		return Call{}, false
	}
	if at := int32(n.Args[of.path-1]); !filepath.IsAbs(path) {
		base := dir + "/cwd"
		if at != unix.AT_FDCWD {
			base = fmt.Sprintf("%s/fd/%d", dir, at)
		}
		if base, err = os.Readlink(base); err == nil {
			path = filepath.Join(base, path)
		}
	}
	return Call{Name: of.name, Path: path}, true
}

// text returns the string at an address of a process.
func text(memory string, at int64) (string, error) {
	f, err := os.Open(memory)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, unix.PathMax)
	n, err := f.ReadAt(b, at)
	end := bytes.IndexByte(b[:n], 0)
	if end < 0 {
		return "", errors.Join(errors.New("the path has no end"), err)
	}
	return string(b[:end]), nil
}

// The sizes are encoded in the requests.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(notice{})-80]
	_ = [1]struct{}{}[unsafe.Sizeof(answer{})-24]
)
