package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/config/format"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/view/document"
)

// The exit statuses that only fmt has.
const (
	exitUnreadable  = 2 // some files could not be read, parsed or written
	exitUnformatted = 3 // fmt -check: some files are not in the standard style
)

// maxFormatted bounds a file to be formatted, in bytes. No configuration is larger, and an endless stream is
// refused.
const maxFormatted = 16 << 20

// formattedSuffixes are those of the files that fmt works on.
var formattedSuffixes = []string{".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tofutest.hcl", ".tfmock.hcl", ".tofumock.hcl"}

// formatting is one run of the fmt command.
type formatting struct {
	*app
	list, write, diff, check, recursive bool

	failed, changed bool
}

func (a *app) fmtCommand() *cli.Command {
	f := &formatting{app: a, list: true, write: true}
	flags := []cli.Flag{
		boolFlag("list", "Don't list the files whose style differs. Never done for standard input.", &f.list),
		boolFlag("write", "Don't change the files. -check does not change them either.", &f.write),
		boolFlag("diff", "Show what differs.", &f.diff),
		boolFlag("check", "Change nothing, and exit with status 3 if a file is not in the standard style.", &f.check),
		boolFlag("recursive", "Also format the files in subdirectories.", &f.recursive),
	}
	return a.command("fmt", "Reformat your configuration in the standard style", "[DIRECTORY or FILE or -]...",
		"Rewrites files of the native syntax in the standard style: configuration (.tf, .tofu), values of variables (.tfvars) and tests (.tftest.hcl, .tofutest.hcl). "+
			"It works on the files in the current directory or in the given ones, on given files, or, with a dash as the only argument, from standard input to standard output.\n\n"+
			"The exit status is 0, or 2 if there were errors, or 3 if -check has found a file to format.",
		flags, f.run)
}

// run formats the named files and directories. It goes on after errors, so that one broken file does not
// hide the state of the others.
func (f *formatting) run(_ context.Context, args []string) int {
	f.sources = document.Sources{}
	if slices.Equal(args, []string{"-"}) {
		f.stdin()
	} else {
		if len(args) == 0 {
			args = []string{"."}
		}
		for _, arg := range args {
			f.target(arg)
		}
	}
	switch {
	case f.failed:
		return exitUnreadable
	case f.check && f.changed:
		return exitUnformatted
	}
	return exitOK
}

func (f *formatting) problem(diags diag.List) {
	f.report(diags)
	f.failed = true
}

func (f *formatting) stdin() {
	const name = "<stdin>"
	src, ok := f.read(f.in, name)
	if !ok {
		return
	}
	out, ok := f.format(src, name)
	if ok && !f.check && !f.diff {
		if _, err := f.env.Stdout.Write(out); err != nil {
			f.problem(diag.Errorf("Failed to write the output", "%s", diag.Sentence(err)))
		}
	}
}

// read reads a stream to its end.
func (f *formatting) read(r io.Reader, name string) (content []byte, ok bool) {
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
func (f *formatting) format(src []byte, name string) (out []byte, ok bool) {
	out, diags := format.Source(src, name)
	if diags.HasErrors() {
		f.sources[name] = src
		f.problem(diags)
		return nil, false
	}
	if bytes.Equal(src, out) {
		return out, true
	}
	f.changed = true
	if f.list && name != "<stdin>" {
		fmt.Fprintln(f.env.Stdout, name)
	}
	if f.diff {
		fmt.Fprint(f.env.Stdout, unifiedDiff("old/"+filepath.ToSlash(name), "new/"+filepath.ToSlash(name), string(src), string(out)))
	}
	return out, true
}

// target formats a file or directory given as an argument.
func (f *formatting) target(arg string) {
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

// shortPath returns a path for display: relative to the working directory if possible.
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

func formatted(name string) bool {
	return slices.ContainsFunc(formattedSuffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// directory formats the files in a directory, with -recursive also those below it. Hidden files and
// editors' backup files are skipped.
func (f *formatting) directory(dir string) {
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
			if f.recursive {
				f.directory(path)
			}
		case formatted(name):
			f.file(path)
		}
	}
}

// file formats one file and writes it back unless that is switched off.
func (f *formatting) file(path string) {
	src, ok := f.readFile(path)
	if !ok {
		return
	}
	out, ok := f.format(src, path)
	if !ok || !f.write || f.check || bytes.Equal(src, out) {
		return
	}
	if err := safefile.Rewrite(path, out); err != nil {
		f.problem(diag.Errorf("Failed to write file", "The file %s could not be written: %s.", path, diag.Reason(err)))
	}
}

// readFile reads a file to be formatted. ok is false if it failed, which has been reported.
func (f *formatting) readFile(path string) ([]byte, bool) {
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
