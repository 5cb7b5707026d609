package provision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/lines"
	"github.com/mayfly-iac/mayfly/internal/base/processgroup"
)

// localExec runs a command on this machine.
type localExec struct {
	work
	quiet bool
}

// outputTail is how much of a failed command's output its error shows, in bytes.
const outputTail = 8 << 10

// execute runs the command. Its environment is the program's, with the arguments' variables after it, which
// take precedence.
func (le *localExec) execute(args cty.Value) error {
	command := ""
	if v := args.GetAttr("command"); !v.IsNull() {
		command = v.AsString()
	}
	if strings.TrimSpace(command) == "" {
		return errors.New("failed: the command is null or empty")
	}
	argv := interpreter(args.GetAttr("interpreter"))
	argv = append(argv, command)
	le.quiet = !args.GetAttr("quiet").IsNull() && args.GetAttr("quiet").True()
	ctx, cancel := context.WithCancel(le.hard)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(append([]string(nil), le.Environ...), environment(args.GetAttr("environment"))...)
	cmd.Dir = le.WorkDir
	if dir := args.GetAttr("working_dir"); !dir.IsNull() && dir.AsString() != "" {
		cmd.Dir = dir.AsString()
		if !filepath.IsAbs(cmd.Dir) {
			cmd.Dir = filepath.Join(le.WorkDir, cmd.Dir)
		}
	}
	cmd.WaitDelay = 5 * time.Second
	processgroup.Prepare(cmd)
	switch {
	case le.secret != "":
		le.Output(le.secret)
	case le.quiet:
		le.Output("local-exec: Executing: Suppressed by quiet=true")
	default:
		le.Output("Executing: " + quoteArgs(argv))
	}
	return le.result(le.runOutput(cmd), argv)
}

// commandResult is the outcome of a command: the end of its output and its error.
type commandResult struct {
	tail string
	err  error
}

// runOutput runs the command and passes on its output line by line.
func (le *localExec) runOutput(cmd *exec.Cmd) commandResult {
	pr, pw, err := os.Pipe()
	if err != nil {
		return commandResult{err: err}
	}
	defer func() { _ = pr.Close() }()
	cmd.Stdout, cmd.Stderr = pw, pw
	if err := cmd.Start(); err != nil {
		_ = pw.Close()
		return commandResult{err: err}
	}
	_ = pw.Close()
	stop := context.AfterFunc(le.soft, func() { processgroup.Interrupt(cmd) })
	defer stop()
	read := make(chan string, 1)
	go func() {
		tail := ""
		_ = bug.Call(func() { tail = le.copyOutput(pr) }) // the rest of the output is not shown
		read <- tail
	}()
	err = cmd.Wait()
	for {
		select {
		case tail := <-read:
			return commandResult{tail, err}
		case <-time.After(cmd.WaitDelay):
		}
		if !le.Behind() || le.soft.Err() != nil { // a process that the command left behind still has its output open
			return commandResult{err: err}
		}
	}
}

// copyOutput passes the output on to its end and returns the last part of it, for an error. If output is
// secret, one line in its place says so, and nothing is returned.
func (le *localExec) copyOutput(r io.Reader) string {
	var tail []byte
	hidden := false
	lines.Read(r, func(text string, ends bool) {
		switch {
		case le.secret == "":
			le.Output(text)
			if tail = append(tail, text...); ends {
				tail = append(tail, '\n')
			}
			tail = lastLines(tail, outputTail)
		case !hidden:
			hidden = true
			le.Output(le.secret)
		}
	})
	return string(tail)
}

// lastLines returns the whole lines at the end of a text that take at most limit bytes, or the end of its
// last line if that is longer.
func lastLines(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if _, rest, found := bytes.Cut(text, []byte{'\n'}); found && len(rest) > 0 {
		return rest
	}
	return text
}

// result describes a failure. If arguments are secret, it shows only the exit status.
func (le *localExec) result(r commandResult, argv []string) error {
	if r.err == nil {
		return nil
	}
	status := "it could not be started"
	var exit *exec.ExitError
	if errors.As(r.err, &exit) {
		status = exit.Error()
	}
	if le.secret != "" {
		if errno := syscall.Errno(0); errors.As(r.err, &errno) { // the error itself contains the path
			status += " (" + errno.Error() + ")"
		}
		return fmt.Errorf("%s: %s. The command line is hidden for the same reason", le.secret, status)
	}
	if exit == nil {
		status = r.err.Error()
	}
	return fmt.Errorf("'%s': %s. Output: %s", argv[len(argv)-1], status, r.tail)
}

// interpreter returns the program that the command is an argument of, with its own arguments: the system's
// shell if none is given.
func interpreter(v cty.Value) []string {
	if !v.IsNull() && v.LengthInt() > 0 {
		var argv []string
		for _, e := range v.AsValueSlice() {
			if !e.IsNull() {
				argv = append(argv, e.AsString())
			}
		}
		return argv
	}
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C"}
	}
	return []string{"/bin/sh", "-c"}
}

// environment returns variables in the form of processes. Those that are null are left out.
func environment(v cty.Value) []string {
	var env []string
	if v.IsNull() {
		return nil
	}
	for name, e := range v.AsValueMap() {
		if !e.IsNull() {
			env = append(env, name+"="+e.AsString())
		}
	}
	return env
}

// quoteArgs returns a command line for people.
func quoteArgs(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return "[" + strings.Join(quoted, " ") + "]"
}
