package workdir

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// CheckGenerated returns an error if AddGenerated could not write a file in the end, so that nothing is read
// in vain.
func CheckGenerated(file string) diag.List {
	if strings.HasSuffix(file, ".json") {
		return diag.Errorf("Invalid generate-config-out flag", "The configuration is generated in native syntax, so it needs a file whose name ends in .tf, not %s.", file)
	}
	if _, err := os.Lstat(file); err == nil {
		return diag.Errorf("Target generated file already exists", "Generated configuration is written to a new file, and %s already exists. Choose another name, or move the content of the file elsewhere and remove it.", file)
	}
	if err := safefile.CheckWritable(file); err != nil {
		return notGenerated(file, err)
	}
	return nil
}

func notGenerated(file string, err error) diag.List {
	return diag.Errorf("Failed to create target generated file", "The file %s for the generated configuration cannot be written: %s.", file, diag.Reason(err))
}

// AddGenerated writes blocks that Operation.Generate has made to a file, which must not exist yet, loads the
// configuration anew with them, and plans with it from then on. wrote reports whether there is a file now,
// which is kept also if there were errors.
func (s *Session) AddGenerated(ctx context.Context, generated []*engine.Generated, file string) (wrote bool, diags diag.List) {
	text := engine.GeneratedText(generated)
	if err := safefile.CreateNew(file, text, 0o644); err != nil {
		return false, notGenerated(file, err)
	}
	loader := s.dir.loader(ctx)
	loader.FS = &withFile{FS: config.OSFS{}, name: generatedName(file), content: text}
	tree, diags := loader.Load(s.dir.opt.Root)
	s.dir.useOwn(tree)
	if !diags.HasErrors() {
		s.Project.Reload(tree)
	}
	return true, diags
}

// errNothing is why no file is made.
var errNothing = errors.New("nothing to write")

// GenerateTo calls run with a function that adds text to a new file of generated configuration. The file is
// there once run has returned, whatever happened, but not if nothing was added. If the file cannot be
// written, the function returns the error, and so does GenerateTo.
func GenerateTo(file string, run func(add func(text string) error)) (wrote bool, diags diag.List) {
	begun := false
	err := safefile.ReplaceBy(file, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		run(func(text string) error {
			if !begun {
				begun = true
				text = string(engine.GeneratedText(nil)) + text
			}
			_, err := out.WriteString(text)
			return err
		})
		if !begun {
			return errNothing
		}
		return out.Flush()
	})
	switch {
	case !begun:
		return false, nil
	case err != nil:
		return false, notGenerated(file, err)
	}
	return true, nil
}

// generatedName is the name under which the root module has the generated file: its own, if it is one that
// the module reads.
func generatedName(file string) string {
	file = filepath.ToSlash(filepath.Clean(file))
	suffix := path.Ext(file)
	if suffix != ".tf" && suffix != ".tofu" {
		suffix = ".tf"
	} else if here(path.Dir(file)) {
		return path.Base(file)
	}
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for {
		if _, err := os.Lstat(base + suffix); err != nil {
			return base + suffix
		}
		base = "generated_" + base
	}
}

// here reports whether a directory is the working directory, however its path is written.
func here(dir string) bool {
	there, err := os.Stat(dir)
	if err != nil {
		return false
	}
	own, err := os.Stat(".")
	return err == nil && os.SameFile(there, own)
}

// withFile is a file system with one more file in the working directory.
type withFile struct {
	config.FS
	name    string
	content []byte
}

// ReadFile implements config.FS.
func (w *withFile) ReadFile(name string) ([]byte, error) {
	if path.Clean(name) == w.name {
		return w.content, nil
	}
	return w.FS.ReadFile(name)
}

// ReadDir implements config.FS.
func (w *withFile) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := w.FS.ReadDir(name)
	if err != nil || path.Clean(name) != "." || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == w.name }) {
		return entries, err
	}
	return append(entries, fs.FileInfoToDirEntry(snapshotFile{w.name, int64(len(w.content))})), nil
}
