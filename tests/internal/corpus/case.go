package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// recordName is the file of a case that has its runs. It is not part of the configuration.
const recordName = "record"

// defaultRun is the command for a case without a record.
const defaultRun = "validate -json"

// Archive is one file of cases.
type Archive struct {
	Path  string
	Cases []*Case
	txtar *txtar.Archive
}

// Case is a configuration with the known findings of engines in it.
type Case struct {
	Name  string
	Runs  []*Run
	files []txtar.File // without the name of the case
}

// Run is one command on a case, with its recorded outcome.
type Run struct {
	Command string
	Theirs  Outcome // of OpenTofu
	Ours    Outcome
	Reasons []string // the classes that explain the differences, keys of Reasons
}

// Outcome is the outcome of a command: whether it succeeded, and one line for each finding, in order.
type Outcome struct {
	OK    bool
	Lines []string
}

// LoadAll reads the archives of a directory. The first element of a file's name in an archive is the name of
// its case.
func LoadAll(dir string) ([]*Archive, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var out []*Archive
	for _, name := range names {
		a, err := load(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, a)
	}
	return out, nil
}

func load(path string) (*Archive, error) {
	t, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	a := &Archive{Path: path, txtar: t}
	for _, f := range t.Files {
		name, file, ok := strings.Cut(f.Name, "/")
		if !ok {
			return nil, fmt.Errorf("%q belongs to no case", f.Name)
		}
		c := a.find(name)
		if c == nil {
			c = &Case{Name: name}
			a.Cases = append(a.Cases, c)
		}
		if file != recordName {
			c.files = append(c.files, txtar.File{Name: file, Data: f.Data})
			continue
		}
		if c.Runs, err = parseRecord(string(f.Data)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	for _, c := range a.Cases {
		if len(c.Runs) == 0 {
			c.Runs = []*Run{{Command: defaultRun}}
		}
	}
	return a, nil
}

func (a *Archive) find(name string) *Case {
	i := slices.IndexFunc(a.Cases, func(c *Case) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return a.Cases[i]
}

// Save writes the archive with the records that its cases have now.
func (a *Archive) Save() error {
	out := &txtar.Archive{Comment: a.txtar.Comment}
	for _, c := range a.Cases {
		for _, f := range c.files {
			out.Files = append(out.Files, txtar.File{Name: c.Name + "/" + f.Name, Data: f.Data})
		}
		out.Files = append(out.Files, txtar.File{Name: c.Name + "/" + recordName, Data: []byte(formatRecord(c.Runs))})
	}
	return os.WriteFile(a.Path, txtar.Format(out), 0o644)
}
