package documents

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kind is the form of a document.
type Kind string

// The forms.
const (
	JSON   Kind = "json"   // one value
	Stream Kind = "stream" // one value a line
	Text   Kind = "text"
	Status Kind = "status" // nothing but the exit status
)

// Document is the output of one command.
type Document struct {
	Name string
	Kind Kind
	Exit int
	Out  string
}

// Engine runs cases with one program.
type Engine struct {
	Path string
	Env  []string // in addition to the environment of this process
}

type runner struct {
	engine Engine
	dir    string
	docs   []Document
	plans  int
}

// Run carries a case out in dir, which must be empty, and returns the documents in order. An error is about
// starting the program only: whatever the program says or ends with is part of the documents.
func (e Engine) Run(c *Case, dir string) ([]Document, error) {
	if err := c.lay(dir, ""); err != nil {
		return nil, err
	}
	r := &runner{engine: e, dir: dir}
	for _, s := range c.Steps {
		if err := r.step(c, s); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", c.Name, s.Verb, strings.Join(s.Args, " "), err)
		}
	}
	return r.docs, nil
}

func (r *runner) step(c *Case, s Step) error {
	switch s.Verb {
	case "files":
		return c.lay(r.dir, s.Args[0])
	case "remove":
		return os.RemoveAll(filepath.Join(r.dir, s.Args[0]))
	case "plan":
		r.plans++
		file := fmt.Sprintf("plan.%d", r.plans)
		if err := r.command(Stream, append([]string{"plan", "-json", "-input=false", "-out=" + file}, s.Args...)...); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(r.dir, file)); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return r.command(JSON, "show", "-json", file)
	case "apply", "now":
		args := append([]string{"apply", "-json", "-input=false", "-auto-approve"}, s.Args...)
		if s.Verb == "apply" {
			args = append(args, fmt.Sprintf("plan.%d", r.plans))
		}
		if err := r.command(Stream, args...); err != nil {
			return err
		}
		return errors.Join(r.command(JSON, "show", "-json"), r.command(JSON, "output", "-json"), r.command(Text, "state", "list"))
	default:
		kind := Kind(s.Verb)
		if s.Verb == "do" {
			kind = Status
		}
		return r.command(kind, s.Args...)
	}
}

func (r *runner) command(kind Kind, args ...string) error {
	cmd := exec.Command(r.engine.Path, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), r.engine.Env...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return err
	}
	d := Document{Name: fmt.Sprintf("%02d %s", len(r.docs)+1, strings.Join(args, " ")), Kind: kind, Exit: cmd.ProcessState.ExitCode(), Out: out.String()}
	if kind == Status {
		d.Out = problems.String() + d.Out
	}
	r.docs = append(r.docs, d)
	return nil
}
