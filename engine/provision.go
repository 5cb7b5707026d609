package engine

import (
	"bufio"
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

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/value"
)

// provisioners are those of one moment in an object's life.
type provisioners interface {
	Provisioners() []*config.Provisioner
	EvalProvisioner(t *future.Task, s *eval.Session, index int, self cty.Value) (cty.Value, diag.List)
	EvalConnection(t *future.Task, s *eval.Session, index int, self cty.Value) (cty.Value, diag.List)
	ConnectionBody(index int) hcl.Body
	Uses(t *future.Task) []eval.Use
}

// provisioning is the running of an object's provisioners, when it has been created or before it is destroyed.
type provisioning struct {
	*walk
	t      *future.Task
	s      *eval.Session
	of     provisioners
	obj    addr.Object
	action plan.Action // Create or Delete
	self   cty.Value
}

// run runs the provisioners in order; false means that one failed or was not reached, which was reported. interrupted says what that means for the object.
func (pv *provisioning) run(interrupted string) bool {
	for i, p := range pv.of.Provisioners() {
		if pv.interrupted() {
			pv.walk.run.Report(diag.Errorf("Provisioning interrupted", "Not all provisioners of %s had run before the interrupt, so it %s.", pv.obj, interrupted).WithAddress(pv.obj.Instance.String()))
			return false
		}
		if !pv.one(i, p) {
			return false
		}
	}
	return true
}

func (pv *provisioning) one(i int, p *config.Provisioner) bool {
	report := pv.walk.run.Report
	if !pv.s.Fresh() { // what came before may have taken its time
		return false
	}
	defer func(was string) { pv.s.Purpose = was }(pv.s.Purpose)
	pv.s.Purpose = string(OpProvision) // of what is opened meanwhile
	args, conn, diags := evalProvisioner(pv.t, pv.s, pv.of, i, pv.self, pv.obj.Instance)
	report(diags)
	if diags.HasErrors() || pv.s.Failed() {
		return false
	}
	hidden := hiddenBy(args, conn)
	args, _ = args.UnmarkDeep()
	if !args.IsWhollyKnown() || conn != cty.NilVal && !conn.IsWhollyKnown() {
		report(diag.At(p.Range, "Invalid provisioner configuration", "The arguments of the provisioner are not wholly known.").WithAddress(pv.obj.Instance.String()))
		return false
	}
	pv.event(Event{Kind: Started, Op: OpProvision, Object: pv.obj, Action: pv.action, Provisioner: p.Type})
	begin := pv.opt.Now()
	err := pv.execute(p, args, conn, hidden)
	kind := Completed
	if err != nil {
		kind = Failed
	}
	pv.event(Event{Kind: kind, Op: OpProvision, Object: pv.obj, Action: pv.action, Provisioner: p.Type, Elapsed: pv.opt.Now().Sub(begin)})
	if err == nil {
		return true
	}
	d := diag.At(p.Range, p.Type+" provisioner error", "%s", err).WithAddress(pv.obj.Instance.String())
	if p.Continue {
		report(d.AsWarnings())
		return !pv.interrupted() || pv.action == plan.Create // what the interrupt cut short is no reason to destroy
	}
	report(d)
	return false
}

// execute runs a provisioner of one type with its decoded arguments, which have no marks, and its connection, which has. hidden, if not empty, is shown
// in place of all output.
func (pv *provisioning) execute(p *config.Provisioner, args, conn cty.Value, hidden string) error {
	switch p.Type {
	case "local-exec":
		le := localExec{walk: pv.walk, obj: pv.obj, action: pv.action, hidden: hidden}
		if err := le.execute(args); err != nil {
			return fmt.Errorf("Error running command %w", err)
		}
		return nil
	case "remote-exec", "file":
		rw := remoteWork{walk: pv.walk, obj: pv.obj, action: pv.action, typ: p.Type, hidden: hidden, conn: conn}
		return rw.execute(args)
	default:
		return fmt.Errorf("of type %q: there is no such provisioner", p.Type)
	}
}

// hiddenBy returns the reason why a provisioner's output must not be shown, "" if it may. conn may be cty.NilVal.
func hiddenBy(args, conn cty.Value) string {
	has := func(m value.Mark) bool { return value.Contains(args, m) || value.Contains(conn, m) }
	var words []string
	if has(value.Sensitive) {
		words = append(words, "sensitive")
	}
	if has(value.Ephemeral) {
		words = append(words, "ephemeral")
	}
	if len(words) == 0 {
		return ""
	}
	return "(output suppressed due to " + strings.Join(words, ", ") + " value in config)"
}

// localExec runs a command on this machine.
type localExec struct {
	*walk
	obj    addr.Object
	action plan.Action
	hidden string // shown in place of each output; "" to show everything
	quiet  bool
}

// outputTail is how much of a failed command's output its error shows.
const outputTail = 8 << 10

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
	ctx, cancel := context.WithCancel(le.ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(append([]string(nil), le.opt.Environ...), environment(args.GetAttr("environment"))...)
	cmd.Dir = le.opt.WorkDir
	if dir := args.GetAttr("working_dir"); !dir.IsNull() && dir.AsString() != "" {
		cmd.Dir = dir.AsString()
		if !filepath.IsAbs(cmd.Dir) {
			cmd.Dir = filepath.Join(le.opt.WorkDir, cmd.Dir)
		}
	}
	cmd.WaitDelay = 5 * time.Second
	grouped(cmd)
	switch {
	case le.hidden != "":
		le.line(le.hidden)
	case le.quiet:
		le.line("local-exec: Executing: Suppressed by quiet=true")
	default:
		le.line("Executing: " + quoteArgs(argv))
	}
	return le.result(le.runOutput(cmd), argv)
}

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
	stop := context.AfterFunc(le.soft, func() { interruptGroup(cmd) })
	defer stop()
	read := make(chan string, 1)
	go func() { read <- le.copyOutput(pr) }()
	err = cmd.Wait()
	for {
		select {
		case tail := <-read:
			return commandResult{tail, err}
		case <-time.After(cmd.WaitDelay):
		}
		if !le.events.full() || le.interrupted() { // something that the command left running still holds its output
			return commandResult{err: err}
		}
	}
}

func (le *localExec) copyOutput(r io.Reader) string {
	var tail strings.Builder
	hidden := false
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadString('\n')
		if line != "" {
			if le.hidden == "" {
				le.line(strings.TrimRight(line, "\r\n"))
				if tail.Len() < outputTail {
					tail.WriteString(line)
				}
			} else if !hidden {
				hidden = true
				le.line(le.hidden)
			}
		}
		if err != nil {
			return tail.String()
		}
	}
}

func (le *localExec) line(text string) {
	le.output(Event{Kind: Output, Op: OpProvision, Object: le.obj, Action: le.action, Provisioner: "local-exec", Line: text})
}

// result describes a failure. With secrets in the arguments, command line and output stay hidden and only the exit status is told.
func (le *localExec) result(r commandResult, argv []string) error {
	if r.err == nil {
		return nil
	}
	status := "it could not be started"
	var exit *exec.ExitError
	if errors.As(r.err, &exit) {
		status = exit.Error()
	}
	if le.hidden != "" {
		if errno := syscall.Errno(0); errors.As(r.err, &errno) { // the reason alone: the error itself has the path
			status += " (" + errno.Error() + ")"
		}
		return fmt.Errorf("%s: %s. The command line is hidden for the same reason", le.hidden, status)
	}
	if exit == nil {
		status = r.err.Error()
	}
	return fmt.Errorf("'%s': %s. Output: %s", argv[len(argv)-1], status, r.tail)
}

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

func quoteArgs(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return "[" + strings.Join(quoted, " ") + "]"
}
