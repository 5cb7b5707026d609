package plugin

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How long to wait for a process and its output.
const (
	// drainTime is how long the output of an ended process is still read, since its children may keep the
	// pipes open forever.
	drainTime = 500 * time.Millisecond
	// exitTime is how long a broken connection waits for the process to end, so that the error can include
	// the exit status.
	exitTime = 2 * time.Second
)

// process is a plugin process. It gets no standard input, is not reached by signals to the engine's process
// group, ends even if a child of the plugin keeps its pipes open, and keeps its last output for error
// messages.
type process struct {
	cmd    *exec.Cmd
	stderr *tail

	outRead, outWrite *os.File
	errRead, errWrite *os.File

	exited   chan struct{} // closed when the process has ended and its output is read
	drained  chan struct{} // closed when standard error is at its end
	waitErr  error         // valid once exited is closed
	startErr error

	endEnclosed func() // see enclose; valid once the process was started

	mu        sync.Mutex
	killed    bool
	handshake []byte // the beginning of standard output
}

// newProcess prepares a process. The method start starts it.
func newProcess(c Command) *process {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = pluginEnv(c)
	cmd.SysProcAttr = apart()
	return &process{cmd: cmd, stderr: newTail(c.Stderr), exited: make(chan struct{}), drained: make(chan struct{})}
}

// pluginEnv returns the environment of a plugin without the variable that makes SDKs write every protocol
// message, including secrets, to disk. If the plugin's log is not read, its SDK's logging is turned off,
// unless the environment says otherwise: by default SDKs write several lines for each call, which takes
// more time than the calls.
func pluginEnv(c Command) []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	quiet := map[string]bool{}
	if c.Stderr == nil {
		kind := strings.ToUpper(strings.ReplaceAll(path.Base(c.Name), "-", "_"))
		quiet["TF_LOG_SDK"], quiet["TF_LOG_PROVIDER_"+kind] = true, true
	}
	var kept []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if value != "" {
			delete(quiet, name)
		}
		if name != "TF_LOG_SDK_PROTO_DATA_DIR" {
			kept = append(kept, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(quiet)) {
		kept = append(kept, name+"=off")
	}
	return kept
}

// start starts the process.
func (p *process) start() (err error) {
	defer func() { p.startErr = err }()
	if p.outRead, p.outWrite, err = os.Pipe(); err != nil {
		return err
	}
	if p.errRead, p.errWrite, err = os.Pipe(); err != nil {
		return errors.Join(err, p.outRead.Close(), p.outWrite.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr = p.outWrite, p.errWrite
	started := make(chan error)
	go p.run(started)
	err = <-started
	p.outWrite.Close()
	p.errWrite.Close()
	if err != nil {
		p.outRead.Close()
		p.errRead.Close()
		close(p.exited)
		return err
	}
	return nil
}

// begun reports whether starting the process has been attempted.
func (p *process) begun() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process != nil || p.startErr != nil || p.killed
}

// run starts the process and waits for its end. It stays on its thread until then: a system that kills a
// process with its parent refers to the thread that started it, and the Go runtime ends threads at will.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.startUnlessKilled()
	started <- err
	if err == nil {
		p.reap()
	}
}

// startUnlessKilled starts the process, under the lock that Kill takes: a kill comes either before the
// start and prevents it, or after it and finds a process.
func (p *process) startUnlessKilled() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return context.Canceled
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.endEnclosed = enclose(p.cmd.Process)
	return nil
}

// reap waits for the end of the process and of its output, in this order.
func (p *process) reap() {
	err := p.cmd.Wait()
	p.endEnclosed()
	select {
	case <-p.drained:
	case <-time.After(drainTime):
	}
	p.outRead.Close()
	p.errRead.Close()
	p.waitErr = err
	close(p.exited)
}

// ended waits for the end of the process, and reports whether it came in time.
func (p *process) ended(within time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// kill ends the process and everything in its process group. Before start, it prevents the start.
func (p *process) kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.cmd.Process == nil {
		return nil
	}
	if err := kill(p.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// id returns the number of the process.
func (p *process) id() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd.Process == nil {
		return "not started"
	}
	return strconv.Itoa(p.cmd.Process.Pid)
}

// handshakeReader keeps the beginning of standard output, which contains the handshake.
type handshakeReader struct{ p *process }

// Read implements io.Reader.
func (r handshakeReader) Read(b []byte) (int, error) {
	n, err := r.p.outRead.Read(b)
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if room := 4096 - len(r.p.handshake); room > 0 {
		r.p.handshake = append(r.p.handshake, b[:min(n, room)]...)
	}
	return n, err
}

// handshakeFields returns the parts of the first line of standard output, or nil if nothing was written.
func (p *process) handshakeFields() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, _, _ := strings.Cut(string(p.handshake), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return nil
	}
	return strings.Split(line, "|")
}

// drainReader notices the end of standard error.
type drainReader struct{ p *process }

// Read implements io.Reader. Only one goroutine reads.
func (r drainReader) Read(b []byte) (int, error) {
	n, err := r.p.errRead.Read(b)
	if err != nil {
		select {
		case <-r.p.drained:
		default:
			close(r.p.drained)
		}
	}
	return n, err
}

// exitText waits briefly for the process to end and returns " (exit status 2)" or the like.
func (p *process) exitText() string {
	select {
	case <-p.exited:
	case <-time.After(exitTime):
		return " (its process still runs, but the connection broke)"
	}
	if p.waitErr == nil {
		return " (exit status 0)"
	}
	return " (" + p.waitErr.Error() + ")"
}
