//go:build unix

package kill

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

// allFaults is a variable that, if it is not empty, lets every call fail instead of a sample, and runs what
// takes minutes to build.
const allFaults = "MAYFLY_TEST_FAULTS"

// sampled is how many calls of a command fail by default for each kind of failure.
const sampled = 1

// objectsOf is a configuration of n objects in two layers, with a secret each, of a size.
func objectsOf(n, size int) string {
	var b strings.Builder
	b.WriteString("terraform {\n  required_providers {\n    sim = { source = \"" + simcloud.Source + "\" }\n  }\n}\nephemeral \"sim_secret\" \"s\" {\n  name = \"s\"\n}\n")
	for i := range n {
		fmt.Fprintf(&b, "resource \"sim_thing\" \"r%d\" {\n  name      = \"r%d\"\n  size      = %d\n  secret_wo = ephemeral.sim_secret.s.value\n", i, i, size+i)
		if i >= n/2 {
			fmt.Fprintf(&b, "  tags      = { up = sim_thing.r%d.id }\n", i-n/2)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// a failure is how calls fail: one of them, or all from it on.
type failure struct {
	errno  syscall.Errno
	onward bool
}

func (f failure) String() string {
	if f.onward {
		return fmt.Sprintf("%s onward", f.errno)
	}
	return f.errno.Error()
}

var failures = []failure{
	{syscall.EIO, false},
	{syscall.ENOSPC, false},
	{syscall.EROFS, false},
	{syscall.EIO, true},
	{syscall.ENOSPC, true},
	{syscall.EROFS, true},
	{syscall.EDQUOT, true},
}

// strikes reports whether a call fails that comes after the first one that did, or is that one.
func (f failure) strikes(c sysfault.Call) bool {
	// A full disk, as well as one with a quota, still takes what needs no room.
	return f.errno != syscall.ENOSPC && f.errno != syscall.EDQUOT || !slices.Contains([]string{"fsync", "unlink", "rename", "ftruncate", "chmod", "fchmod"}, c.Name)
}

// onDisk reports whether a call is about a file of the disk.
func onDisk(c sysfault.Call) bool {
	return filepath.IsAbs(c.Path) && !strings.HasPrefix(c.Path, "/dev/") && !strings.HasPrefix(c.Path, "/proc/")
}

// disk is a site whose directories are put back before each run.
type disk struct {
	*site
	saved string
	args  []string
	reads bool // what fails is the first reading and the first closing of each file of the user's
}

// newDisk remembers the site as it is.
func newDisk(s *site, args ...string) *disk {
	d := &disk{site: s, saved: filepath.Join(s.TempDir(), "saved"), args: args}
	d.copy(s.dir, filepath.Join(d.saved, "dir"))
	d.copy(s.cloud, filepath.Join(d.saved, "cloud"))
	return d
}

func (d *disk) copy(from, to string) {
	d.Helper()
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
		d.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		d.Fatalf("%v: %s", err, out)
	}
}

func (d *disk) restore() {
	d.Helper()
	d.copy(filepath.Join(d.saved, "dir"), d.dir)
	d.copy(filepath.Join(d.saved, "cloud"), d.cloud)
}

// env is the environment of a run, with a home of its own, where results may be kept.
func (d *disk) home() string { return filepath.Join(d.dir, "home") }

// faulted is a run that met failures.
type faulted struct {
	calls  []sysfault.Call // those that are about files
	failed []sysfault.Call
	code   int
	output string
}

// run runs the command with the failure at the call of a number, from 1; 0 for none.
func (d *disk) run(f failure, at int) *faulted {
	d.Helper()
	d.restore()
	if err := os.MkdirAll(filepath.Join(d.home(), "tmp"), 0o700); err != nil {
		d.Fatal(err)
	}
	var out bytes.Buffer
	cmd := d.command(&out, &out, append(d.args, "-no-color")...)
	cmd.Env = append(cmd.Env, "HOME="+d.home(), "TMPDIR="+filepath.Join(d.home(), "tmp"))
	r := &faulted{}
	run, seen := sysfault.Run, map[sysfault.Call]bool{}
	if d.reads {
		run = sysfault.RunReads
	}
	err := run(cmd, func(c sysfault.Call) syscall.Errno {
		if !onDisk(c) || d.reads && (seen[c] || !d.owns(c)) {
			return 0
		}
		seen[c] = true
		r.calls = append(r.calls, c)
		if n := len(r.calls); at > 0 && (n == at || f.onward && n > at) && f.strikes(c) {
			r.failed = append(r.failed, c)
			return f.errno
		}
		return 0
	})
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, errors.ErrUnsupported) {
		d.Skip(err)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		d.Fatal(err)
	}
	r.code, r.output = cmd.ProcessState.ExitCode(), out.String()
	return r
}

// each lets each call fail, or a sample of them, in each way, and calls check with what the run printed.
func (d *disk) each(check func(r *faulted)) {
	d.Helper()
	whole := d.run(failure{}, 0)
	if whole.code != 0 {
		d.Fatalf("without a failure: got exit status %d, want 0\n%s", whole.code, whole.output)
	}
	calls := whole.calls
	parent := d.T
	parent.Logf("%q makes %d calls on files", d.args, len(calls))
	step := max(1, len(calls)/sampled)
	failures := failures
	if d.reads {
		failures = failures[:1]
	}
	for i, f := range failures {
		for at := 1; at <= len(calls); at++ {
			if os.Getenv(allFaults) == "" && at%step != i*step/len(failures) {
				continue
			}
			if !f.strikes(calls[at-1]) {
				continue
			}
			parent.Run(fmt.Sprintf("%s/%d %s %s", f, at, calls[at-1].Name, role(calls[at-1].Path)), func(t *testing.T) {
				d.T, d.site.T = t, t
				r := d.run(f, at)
				d.explained(r)
				check(r)
				if t.Failed() {
					t.Logf("exit status %d; the run ended with:\n%s", r.code, r.output[max(0, len(r.output)-2500):])
				}
			})
			d.site.T = parent
		}
	}
}

var temporary = regexp.MustCompile(`^\.?(.*?)\.?(keep|\d+|\d+\.tmp)$`)

// role is what a temporary file is for.
func role(path string) string {
	if name := temporary.FindStringSubmatch(filepath.Base(path)); name != nil {
		return name[1]
	}
	return filepath.Base(path)
}

// explained checks that a run that met failures ended as a program does that noticed them, and named a file.
func (d *disk) explained(r *faulted) {
	d.Helper()
	if r.code != 0 && r.code != 1 || strings.Contains(r.output, "goroutine ") || strings.Contains(r.output, "panic") {
		d.Errorf("got exit status %d, want 0 or 1 without a panic\n%s", r.code, r.output)
	}
	named := func(c sysfault.Call) bool {
		return strings.Contains(r.output, strings.TrimPrefix(role(c.Path), ".")) || strings.Contains(r.output, filepath.Base(filepath.Dir(c.Path)))
	}
	if r.code == 1 && !slices.ContainsFunc(r.failed, named) {
		d.Errorf("the error names no file that failed: %v", r.failed)
	}
}

var advice = regexp.MustCompile(`(?m)^[│ ]*((?:mayfly|cp) .*errored\.tfstate.*)$`)

// repair follows the advice of an error, and returns whether there was any.
func (d *disk) repair(output string) {
	d.Helper()
	found := advice.FindStringSubmatch(output)
	if found == nil {
		return
	}
	args := strings.Fields(found[1])
	if args[0] == "cp" {
		d.copy(filepath.Join(d.dir, args[1]), filepath.Join(d.dir, args[2]))
		return
	}
	d.must(0, args[1:]...)
}

// complete checks that the state has exactly the objects that exist.
func (d *disk) complete(output string) {
	d.Helper()
	have := d.recorded()
	for _, o := range d.orphans(have) {
		if !strings.Contains(output, "sim_thing."+o.Name+": exists now") && !strings.Contains(output, "sim_thing."+o.Name+": was changed") {
			d.Errorf("%s exists, but no state has it", o.ID)
		}
	}
	objects, err := simcloud.Objects(d.cloud)
	if err != nil {
		d.Fatal(err)
	}
	for name, id := range have {
		gone := !slices.ContainsFunc(objects, func(o *simcloud.Object) bool { return o.ID == id })
		if gone && !strings.Contains(output, "sim_thing."+name+": no longer exists") {
			d.Errorf("the state has %s, which does not exist", id)
		}
	}
}

// converges checks that the next apply leaves nothing to do.
func (s *site) converges(objects int) {
	s.Helper()
	s.must(0, "apply", "-auto-approve")
	s.must(0, "plan", "-detailed-exitcode")
	if have := s.recorded(); len(have) != objects {
		s.Errorf("state: got %d objects, want %d", len(have), objects)
	}
}

func newDiskSite(t *testing.T, n, size int) *site {
	s := &site{T: t, cloud: t.TempDir(), log: filepath.Join(t.TempDir(), "rpc.log"), dir: t.TempDir()}
	s.calls = simlog.NewReader(s.log)
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), objectsOf(n, size))
	s.must(0, "init", "-plugin-dir="+mirror)
	return s
}

func TestFaultsApply(t *testing.T) {
	d := newDisk(newDiskSite(t, 10, 1), "apply", "-auto-approve", "-parallelism=1")
	d.each(func(r *faulted) {
		d.repair(r.output)
		d.complete(r.output)
		if !strings.Contains(r.output, "exists now") {
			d.converges(10)
		}
	})
}

// TestFaultsChange changes eight objects, deletes two and makes one.
func TestFaultsChange(t *testing.T) {
	s := newDiskSite(t, 10, 1)
	s.must(0, "apply", "-auto-approve")
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), objectsOf(8, 5)+"resource \"sim_thing\" \"new\" {\n  name = \"new\"\n}\n")
	d := newDisk(s, "apply", "-auto-approve", "-parallelism=1")
	d.each(func(r *faulted) {
		d.repair(r.output)
		d.complete(r.output)
		if !strings.Contains(r.output, "recorded only here") {
			d.converges(9)
		}
	})
}

func TestFaultsDestroy(t *testing.T) {
	s := newDiskSite(t, 4, 1)
	s.must(0, "apply", "-auto-approve")
	d := newDisk(s, "destroy", "-auto-approve", "-parallelism=1")
	d.each(func(r *faulted) {
		d.repair(r.output)
		d.complete(r.output)
		d.must(0, "destroy", "-auto-approve")
	})
}

func TestFaultsPlan(t *testing.T) {
	s := newDiskSite(t, 4, 1)
	d := newDisk(s, "plan", "-out=saved")
	d.each(func(r *faulted) {
		_, err := os.Stat(filepath.Join(d.dir, "saved"))
		if r.code == 0 && err != nil {
			d.Error(err)
		}
		if err == nil { // then it is complete
			d.must(0, "apply", "saved")
		}
		d.converges(4)
	})
}

func TestFaultsMove(t *testing.T) {
	s := newDiskSite(t, 4, 1)
	s.must(0, "apply", "-auto-approve")
	d := newDisk(s, "state", "mv", "sim_thing.r0", "sim_thing.moved")
	d.each(func(r *faulted) {
		d.repair(r.output)
		have, uncertain := d.recorded(), r.code == 1 && strings.Contains(r.output, "Failed to save the state")
		if _, moved := have["moved"]; len(have) != 4 || !uncertain && moved != (r.code == 0) {
			d.Errorf("exit status %d: got the state %v, want 4 objects, moved if it succeeded", r.code, have)
		}
	})
}

func TestFaultsInit(t *testing.T) {
	s := newDiskSite(t, 4, 1)
	if err := errors.Join(os.RemoveAll(filepath.Join(s.dir, ".terraform")), os.Remove(filepath.Join(s.dir, ".terraform.lock.hcl"))); err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(s.dir, "m", "m.tf"), "")
	filetest.Write(t, filepath.Join(s.dir, "more.tf"), "module \"m\" {\n  source = \"./m\"\n}\nterraform {\n  backend \"local\" {\n    path = \"here.tfstate\"\n  }\n}\n")
	d := newDisk(s, "init", "-plugin-dir="+mirror)
	d.each(func(r *faulted) {
		if r.code != 0 {
			d.must(0, "init", "-plugin-dir="+mirror)
		}
		d.converges(4)
	})
}
