// Package reformat brings files into the standard style of the language, which config/format knows.
//
// It finds and rewrites files, and knows no command line: Options have its settings, and errors go to a
// function.
package reformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/language/config/format"
)

// maxFormatted bounds a file to be formatted, in bytes. No configuration is larger, and an endless stream is
// refused.
const maxFormatted = 16 << 20

// formattedSuffixes are the suffixes of files in the native syntax. Files in JSON have no standard style.
var formattedSuffixes = []string{".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tofutest.hcl", ".tfmock.hcl", ".tofumock.hcl", ".tfquery.hcl"}

// Options are the settings of a run.
type Options struct {
	List      bool // write the name of each file whose style differs to Out
	Write     bool // rewrite these files, unless Check is set
	Diff      bool // write differences to Out
	Check     bool // only find out whether files differ
	Recursive bool // also format files in subdirectories
}

// Run formats files, one after the other. It belongs to one goroutine.
type Run struct {
	Options
	Out     io.Writer
	Report  func(diag.List)
	Sources map[string][]byte // gets the content of files with syntax errors, for diagnostics to quote

	Failed  bool // a file could not be read, parsed or written
	Changed bool // a file was not in the standard style
}

// problem reports an error. The run goes on, so that one broken file does not hide the state of the others.
func (f *Run) problem(diags diag.List) {
	f.Report(diags)
	f.Failed = true
}

// Stream formats the text from in and writes it to Out, or only the difference with Diff. With Check, nothing
// is written.
func (f *Run) Stream(in io.Reader) {
	const name = "<stdin>"
	src, ok := f.read(in, name)
	if !ok {
		return
	}
	out, ok := f.format(src, name)
	if ok && !f.Check && !f.Diff {
		if _, err := f.Out.Write(out); err != nil {
			f.problem(diag.Errorf("Failed to write the output", "%s", diag.Sentence(err)))
		}
	}
}

// read reads a stream to its end.
func (f *Run) read(r io.Reader, name string) (content []byte, ok bool) {
	src, err := io.ReadAll(io.LimitReader(r, maxFormatted+1))
	switch {
	case err != nil:
		f.problem(diag.Errorf("Failed to read file", "%s could not be read: %s.", name, diag.Reason(err)))
	case len(src) > maxFormatted:
		f.problem(diag.Errorf("File too large", "%s is larger than %d MiB, so it is not a configuration file.", name, maxFormatted>>20))
	default:
		return src, true
	}
	return nil, false
}

// format formats one source, records whether it changes, and shows the difference if asked to.
func (f *Run) format(src []byte, name string) (out []byte, ok bool) {
	out, diags := format.Source(src, name)
	if diags.HasErrors() {
		f.Sources[name] = shown(src, name)
		f.problem(diags)
		return nil, false
	}
	if bytes.Equal(src, out) {
		return out, true
	}
	f.Changed = true
	if f.List && name != "<stdin>" {
		fmt.Fprintln(f.Out, name)
	}
	if f.Diff {
		fmt.Fprint(f.Out, unifiedDiff("old/"+filepath.ToSlash(name), "new/"+filepath.ToSlash(name), string(shown(src, name)), string(shown(out, name))))
	}
	return out, true
}

// shown returns the printable text of a file: only the layout if it has values of variables, since they may
// be secret.
func shown(src []byte, name string) []byte {
	if strings.HasSuffix(name, ".tfvars") {
		return format.Cover(src)
	}
	return src
}

// Path formats a file or directory that a person names: in a directory, the files with suffixes of
// configurations. It reports errors and sets Failed.
func (f *Run) Path(arg string) {
	path := shortPath(arg)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		f.problem(diag.Errorf("Invalid file or directory path", "The file or directory %s could not be read: %s.", arg, diag.Reason(err)))
	case info.IsDir():
		f.directory(path)
	case !formatted(path):
		f.problem(diag.Errorf("Invalid file extension", "%s cannot be formatted: only files whose names end in %s can.", arg, strings.Join(formattedSuffixes, ", ")))
	default:
		f.file(path)
	}
}

// shortPath returns a path for display: relative to the working directory if possible. Names in the output
// are the same then, however an argument is written.
func shortPath(path string) string {
	path = filepath.Clean(path)
	if abs, err := filepath.Abs(path); err == nil {
		if wd, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(wd, abs); err == nil {
				return rel
			}
		}
	}
	return path
}

// formatted reports whether a file with a name can be formatted.
func formatted(name string) bool {
	return slices.ContainsFunc(formattedSuffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// directory formats the files in a directory, with -recursive also those below it. Hidden files and
// editors' backup files are skipped.
func (f *Run) directory(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.problem(diag.Errorf("Cannot read directory", "The directory %s could not be read: %s.", dir, diag.Reason(err)))
		return
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, "~"), strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"):
		case e.IsDir():
			if f.Recursive {
				f.directory(path)
			}
		case formatted(name):
			f.file(path)
		}
	}
}

// file formats one file and writes it back unless that is switched off. A file in the standard style is not
// written, so its time stays.
func (f *Run) file(path string) {
	src, ok := f.readFile(path)
	if !ok {
		return
	}
	out, ok := f.format(src, path)
	if !ok || !f.Write || f.Check || bytes.Equal(src, out) {
		return
	}
	if err := safefile.Rewrite(path, out); err != nil {
		f.problem(diag.Errorf("Failed to write file", "The file %s could not be written: %s.", path, diag.Reason(err)))
	}
}

// readFile reads a file to be formatted. ok is false if it failed, which has been reported.
func (f *Run) readFile(path string) ([]byte, bool) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file") // a pipe might block forever
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	if err != nil {
		f.problem(diag.Errorf("Failed to open file", "The file %s could not be opened: %s.", path, diag.Reason(err)))
		return nil, false
	}
	defer file.Close()
	return f.read(file, "The file "+path)
}
