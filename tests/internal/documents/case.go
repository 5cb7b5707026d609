package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Case is a configuration and the commands to run on it.
type Case struct {
	Name  string
	Steps []Step
	files []txtar.File
}

// Step is one line of a case.
type Step struct {
	Verb string
	Args []string
}

// Load reads a case. The lines of the archive's comment are its steps; empty ones and those that begin with #
// are left out. The words of a line are separated by blanks.
//
//	files DIR        lays the files below DIR over the working directory, without DIR in their names; all other files are there from the start
//	remove FILE      removes a file
//	plan ARG...      plans with -json and -out, and shows the saved plan
//	apply ARG...     applies that plan, then shows state and outputs
//	now ARG...       applies without a saved plan, then the same
//	json ARG...      runs a command that prints one document
//	stream ARG...    runs a command that prints one message a line
//	text ARG...      runs a command whose output programs read line by line
//	do ARG...        runs a command of which only the exit status matters
//
// Every case begins with "init -json".
func Load(path string) (*Case, error) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	c := &Case{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), files: a.Files}
	c.Steps = []Step{{"stream", []string{"init", "-json", "-input=false"}}}
	for line := range strings.Lines(string(a.Comment)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "files", "remove", "plan", "apply", "now", "json", "stream", "text", "do":
			c.Steps = append(c.Steps, Step{words[0], words[1:]})
		default:
			return nil, fmt.Errorf("%s: no step is called %q", path, words[0])
		}
	}
	return c, nil
}

// LoadAll reads the cases of a directory.
func LoadAll(dir string) ([]*Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, name := range names {
		c, err := Load(name)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Needs reports whether a file of the case has the text.
func (c *Case) Needs(s string) bool {
	return slices.ContainsFunc(c.files, func(f txtar.File) bool { return strings.Contains(string(f.Data), s) })
}

// later reports whether a file is laid out by a step.
func (c *Case) later(name string) bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Verb == "files" && strings.HasPrefix(name, s.Args[0]+"/") })
}

// lay writes the files below prefix, or, without one, the files that no step lays out.
func (c *Case) lay(dir, prefix string) error {
	for _, f := range c.files {
		name := f.Name
		if prefix == "" && c.later(name) {
			continue
		}
		if prefix != "" {
			rest, ok := strings.CutPrefix(name, prefix+"/")
			if !ok {
				continue
			}
			name = rest
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
