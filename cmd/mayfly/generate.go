package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/engine"
	"github.com/mayfly-iac/mayfly/safefile"
)

// checkGenerate checks the option -generate-config-out, before anything is read.
func (c *changeFlags) checkGenerate() diag.List {
	if c.generate == "" {
		return nil
	}
	if c.destroy || c.refreshOnly {
		return diag.Errorf("Invalid generate-config-out flag", "Configuration can be generated only in an ordinary plan, not with -destroy or -refresh-only.")
	}
	if strings.HasSuffix(c.generate, ".json") {
		return diag.Errorf("Invalid generate-config-out flag", "The configuration is generated in native syntax, so it needs a file whose name ends in .tf, not %s.", c.generate)
	}
	if _, err := os.Lstat(c.generate); err == nil {
		return diag.Errorf("Target generated file already exists", "Generated configuration is written to a new file, and %s already exists. Choose another name, or move the content of the file elsewhere and remove it.", c.generate)
	}
	if err := safefile.CheckWritable(c.generate); err != nil {
		return notGenerated(c.generate, err)
	}
	return nil
}

func notGenerated(name string, err error) diag.List {
	return diag.Errorf("Failed to create target generated file", "The file %s for the generated configuration cannot be written: %s.", name, diag.Reason(err))
}

// generateConfig writes the configuration that -generate-config-out asks for and makes it part of the
// configuration that is planned. It reports what went wrong.
func (r *changeRun) generateConfig(opt *mayfly.PlanOptions) bool {
	if r.flags.generate == "" {
		return true
	}
	var generated []*engine.Generated
	diags := r.working(func() (diags diag.List) {
		generated, diags = r.op.Generate(r.hard, *opt)
		return diags
	})
	if len(generated) == 0 {
		return r.app.report(diags)
	}
	text := engine.GeneratedText(generated)
	if err := writeNew(r.flags.generate, text); err != nil {
		return r.app.report(append(diags, notGenerated(r.flags.generate, err)...))
	}
	r.written = r.flags.generate
	if !r.app.report(append(diags, r.unfinished(diags)...)) {
		return false
	}
	r.dir.loader.FS = &withFile{FS: config.OSFS{}, name: generatedName(r.flags.generate), content: text}
	diags = r.dir.load()
	opt.Generated = generated
	if !r.app.report(append(diags, r.unfinished(diags)...)) {
		return false
	}
	r.project.Reload(r.dir.tree)
	return true
}

// unfinished says, after errors, what has become of the generated file.
func (r *changeRun) unfinished(diags diag.List) diag.List {
	if r.written == "" || !diags.HasErrors() {
		return nil
	}
	return diag.Warnf("Generated configuration is kept", "The generated configuration was written to %s before the errors occurred. Correct it, or remove the file to have it generated again, and plan again.", r.written)
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// generatedName is the name under which the root module has the generated file: its own, if it is one that
// the module reads.
func generatedName(file string) string {
	file = filepath.ToSlash(filepath.Clean(file))
	suffix := path.Ext(file)
	if suffix != ".tf" && suffix != ".tofu" {
		suffix = ".tf"
	} else if path.Dir(file) == "." {
		return file
	}
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for {
		if _, err := os.Lstat(base + suffix); err != nil {
			return base + suffix
		}
		base = "generated_" + base
	}
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
