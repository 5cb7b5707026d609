package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// maxDepth bounds the nesting of module calls. Cycles are detected earlier, except through a directory that
// contains a link to itself.
const maxDepth = 100

// MaxModules bounds the module calls of a configuration, which grow exponentially if each module calls two.
// Without the bound, such a mistake would exhaust the machine's memory instead of giving a diagnostic.
const MaxModules = 50_000

// Loader reads configurations. The zero value reads the operating system's files and refuses modules that
// aren't local directories. A Loader must not be changed while it is in use; its methods may be called
// concurrently if FS permits that.
type Loader struct {
	// FS is the file system to read from; nil means OSFS.
	FS FS
	// ModuleDir returns the directory of an installed module whose source isn't a local path. If it is nil,
	// such calls are errors.
	ModuleDir func(parent *Module, call *ModuleCall) (dir string, diags diag.List)
	// Static evaluates the sources and versions of calls that are
	// expressions. If it is nil, expressions there are errors.
	Static Static
	// StaticMarked is Static for the arguments of backends, whose values keep their marks.
	StaticMarked Static
	// Version is the version of the engine, such as "1.12.6", that modules must be compatible with; ""
	// accepts all modules. The engine is OpenTofu or, if Terraform is set, Terraform: constraints on the
	// other one have no effect.
	Version   string
	Terraform bool
	// Queries has the query files of the root module read too.
	Queries Queries
	// EphemeralRootOutputs permits ephemeral outputs in the root module. Test runs set it, because they
	// read the outputs of the module under test while its resources are open.
	EphemeralRootOutputs bool
}

// Queries says whether query files are read.
type Queries uint8

// The answers.
const (
	NoQueries   Queries = iota
	AnyQueries          // if there are some
	SomeQueries         // it is an error if there are none
)

func (l *Loader) fs() FS {
	if l.FS == nil {
		return OSFS{}
	}
	return l.FS
}

// Load reads the root module in rootDir and all modules that it calls, and checks them against each other. It
// reports all problems of all modules; of a module for another version of the language, it reports only the
// version. With errors, the tree contains the blocks that could be decoded and still serves to show source
// snippets. It is never nil.
func (l *Loader) Load(rootDir string) (*Tree, diag.List) {
	run := l.newRun()
	root := run.module(rootDir, addr.RootModule)
	run.tree.Root = root
	run.children(root, []string{root.Dir})
	run.diags = append(run.diags, crossCheck(run.tree)...)
	if l.Queries == SomeQueries && !run.diags.HasErrors() {
		run.diags = append(run.diags, run.tree.checkQueries()...)
	}
	return run.tree, run.take()
}

// LoadModule reads the module in one directory, without the modules it calls. path is the address that it
// gets in the tree, for messages and resource addresses.
func (l *Loader) LoadModule(dir string, path addr.Module) (*Module, diag.List) {
	run := l.newRun()
	m := run.module(dir, path)
	return m, run.take()
}

// IsConfigDir reports whether dir contains configuration files. It returns true for a directory that can't
// be read: there may be some, and loading it reports why.
func (l *Loader) IsConfigDir(dir string) bool {
	entries, err := l.fs().ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	primary, override := selectFiles(entries)
	return len(primary)+len(override) > 0 || l.Queries != NoQueries && len(queryFiles(entries)) > 0
}

// loadRun is the state of one call of Load. Directories are read and parsed once, however many calls refer
// to them. stopped is set once a bound is exceeded: each further call would exceed it too.
type loadRun struct {
	*Loader
	tree         *Tree
	diags        diag.List
	incompatible diag.List // about modules for other versions of the language
	dirs         map[string]*dirFiles
	stopped      bool
}

// take returns the diagnostics since the last call. It omits those about a module for another version of
// the language, because they may be wrong.
func (r *loadRun) take() diag.List {
	diags := r.diags
	if r.incompatible.HasErrors() {
		diags = r.incompatible
	}
	r.diags, r.incompatible = nil, nil
	return distinct(withoutConsequences(diags))
}

// withoutConsequences drops other errors in a file after an unclosed bracket. The parser goes on at a place
// of its own choice after such an error, and mostly misreads the text there.
func withoutConsequences(diags diag.List) diag.List {
	from := map[string]int{} // lines, by file
	for _, d := range diags {
		if u, ok := d.Extra.(diag.Unbalanced); ok {
			from[d.Subject.Filename] = u.Line
		}
	}
	return slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
		if _, cause := d.Extra.(diag.Unbalanced); cause || d.Subject == nil {
			return false
		}
		line, ok := from[d.Subject.Filename]
		return ok && d.Subject.Start.Line >= line
	})
}

// dirFiles are the parsed files of a directory, kept because several calls may refer to it.
type dirFiles struct {
	primary, override []hcl.Body
	queries           []string // names; they are parsed for the root module only
}

func (l *Loader) newRun() *loadRun {
	return &loadRun{
		Loader: l, dirs: map[string]*dirFiles{},
		tree: &Tree{Modules: map[addr.Module]*Module{}, Sources: map[string][]byte{}},
	}
}

// module decodes one module and adds it to the tree.
func (r *loadRun) module(dir string, p addr.Module) *Module {
	dir = path.Clean(filepath.ToSlash(dir))
	d := &decoder{reader: &reader{}, m: newModule(p, dir), ephemeralRootOutputs: r.EphemeralRootOutputs, terraform: r.Terraform}
	files := r.readDir(dir)
	var queries []hcl.Body
	if r.Queries != NoQueries && p == addr.RootModule {
		d.m.Queries = files.queries
		queries = r.parseAll(dir, files.queries)
	}
	d.decode(d.collect(files.primary, files.override, queries))
	if b := d.m.Backend; b != nil && r.StaticMarked != nil {
		b.Body = staticBody{b.Body, d.m, r.StaticMarked}
		if b.Store != nil && b.Store.Body != nil {
			b.Store.Body = staticBody{b.Store.Body, d.m, r.StaticMarked}
		}
	}
	r.diags = append(r.diags, d.diags...)
	if r.Version != "" {
		r.incompatible = append(r.incompatible, d.m.incompatible(r.engine(), r.Version)...)
	}
	r.tree.Modules[p] = d.m
	return d.m
}

// readDir returns the parsed files of a directory. If it can't be read, that is reported the first time,
// and the directory counts as empty.
func (r *loadRun) readDir(dir string) *dirFiles {
	if files := r.dirs[dir]; files != nil {
		return files
	}
	files := &dirFiles{}
	r.dirs[dir] = files
	entries, err := r.fs().ReadDir(dir)
	if err != nil {
		r.diags = append(r.diags, diag.Errorf("Failed to read module directory",
			"The module directory %s could not be read: %s.", dir, diag.Reason(err))...)
		return files
	}
	primary, override := selectFiles(entries)
	files.primary = r.parseAll(dir, primary)
	files.override = r.parseAll(dir, override)
	files.queries = queryFiles(entries)
	return files
}

// parseAll parses files of a directory. A file with syntax errors contributes the blocks that could be
// parsed.
func (r *loadRun) parseAll(dir string, names []string) []hcl.Body {
	var bodies []hcl.Body
	for _, name := range names {
		file := joinFile(dir, name)
		src, diags := readChecked(r.fs(), file)
		r.diags = append(r.diags, diags...)
		if diags.HasErrors() {
			continue
		}
		r.tree.Sources[file] = src
		body, diags := parse(src, file)
		r.diags = append(r.diags, diags...)
		bodies = append(bodies, diag.Named(body))
	}
	return bodies
}

// children loads the modules that m calls. dirs are the directories from the root to m. Children are loaded
// depth first and in source order, so that diagnostics come in the order in which a person would read the
// files.
func (r *loadRun) children(m *Module, dirs []string) {
	for _, call := range sortedCalls(m) {
		if r.stopped {
			return
		}
		dir, ok := r.callDir(m, call)
		if !ok {
			continue
		}
		if slices.Contains(dirs, dir) {
			r.diags = append(r.diags, selfCall(call, dir, append(slices.Clone(dirs), dir))...)
			continue
		}
		if len(dirs) >= maxDepth {
			r.diags = append(r.diags, callsTooDeep(call)...)
			r.stopped = true
			return
		}
		if len(r.tree.Modules) >= MaxModules {
			r.diags = append(r.diags, TooManyCalls(call)...)
			r.stopped = true
			return
		}
		if !r.exists(call, dir) {
			continue
		}
		child := r.child(dir, m, call)
		r.children(child, append(slices.Clip(dirs), dir))
	}
}

// TooManyCalls returns the error for the call that would be one module more than MaxModules.
func TooManyCalls(call *ModuleCall) diag.List {
	return diag.At(call.SrcRange, "Too many module calls",
		"A configuration may have %d module calls in all, counting each call of a module that is called several times. Use for_each or count for repetition.", MaxModules)
}

// selfCall returns the error for a module that calls itself directly or through others. chain lists the
// directories from the root to the repetition.
func selfCall(call *ModuleCall, dir string, chain []string) diag.List {
	return diag.At(call.SrcRange, "Module calls itself",
		"The source of module %q is the directory %s, which is already being loaded by this chain of calls: %s. A module can't contain itself.",
		call.Name, dir, strings.Join(chain, " → "))
}

func callsTooDeep(call *ModuleCall) diag.List {
	return diag.At(call.SrcRange, "Module calls nest too deeply", "Modules may call each other %d levels deep.", maxDepth)
}

// child decodes the module of a call and links it with its caller.
func (r *loadRun) child(dir string, m *Module, call *ModuleCall) *Module {
	child := r.module(dir, m.Path.Child(call.Name))
	child.Parent, child.Call = m, call
	m.Children[call.Name] = child
	return child
}

// sortedCalls returns the calls of m in source order.
func sortedCalls(m *Module) []*ModuleCall {
	return slices.SortedFunc(maps.Values(m.Calls), func(a, b *ModuleCall) int { return compareRange(a.Range, b.Range) })
}

// callDir resolves the source of a call to a directory. It returns false if the source is invalid or not
// installed, which was reported. Without ModuleDir, only local directories can be resolved.
func (r *loadRun) callDir(m *Module, call *ModuleCall) (string, bool) {
	r.diags = append(r.diags, r.Resolve(m, call)...)
	if !call.SourceSet {
		return "", false
	}
	if call.Local() {
		return path.Join(m.Dir, filepath.ToSlash(call.Source)), true
	}
	if r.ModuleDir == nil {
		r.diags = append(r.diags, diag.At(call.SrcRange, "Module not installed",
			"This module is not yet installed. Run \"mayfly init\" to install all modules required by this configuration.")...)
		return "", false
	}
	dir, diags := r.ModuleDir(m, call)
	for i := range diags {
		if diags[i].Subject == nil {
			diags[i].Subject = call.SrcRange.Ptr()
		}
	}
	r.diags = append(r.diags, diags...)
	return path.Clean(filepath.ToSlash(dir)), dir != "" && !diags.HasErrors()
}

// exists reports whether the directory of a call can be read. Unlike readDir, it blames the call, which is
// where a wrong path is corrected.
func (r *loadRun) exists(call *ModuleCall, dir string) bool {
	if r.dirs[dir] != nil {
		return true
	}
	_, err := r.fs().ReadDir(dir)
	if err == nil {
		return true
	}
	why := diag.Reason(err)
	if errors.Is(err, fs.ErrNotExist) {
		why = "it does not exist"
	}
	r.diags = append(r.diags, diag.At(call.SrcRange, "Unreadable module directory",
		"Unable to read the directory %s of module %q: %s.", dir, call.Name, why)...)
	return false
}

// distinct drops repetitions: a directory with several calls has the same problems each time.
func distinct(diags diag.List) diag.List {
	seen := map[string]bool{}
	return slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
		key := fmt.Sprintf("%d %s", d.Severity, d)
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
}

// Requires reports whether a module of the tree requires the provider explicitly.
func (t *Tree) Requires(p addr.Provider) bool {
	return slices.ContainsFunc(t.SortedModules(), func(m *Module) bool {
		for _, r := range m.Required {
			if r.Source == p {
				return true
			}
		}
		return false
	})
}

// UsedProviders returns the providers that have resources or provider blocks, in no particular order. A
// provider that is only required is not among them: it must be installed, but need not be started.
func (t *Tree) UsedProviders() []addr.Provider {
	used := map[addr.Provider]struct{}{}
	for _, m := range t.SortedModules() {
		for _, p := range m.Providers {
			used[m.ProviderFor(p.Name)] = struct{}{}
		}
		for _, r := range m.Resources {
			used[m.ProviderFor(r.ProviderRef().Name)] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(used))
}

// SortedModules returns the modules of the tree, each after its parent, calls in source order. The order is
// the same for every run on the same files.
func (t *Tree) SortedModules() []*Module {
	var out []*Module
	var walk func(*Module)
	walk = func(m *Module) {
		out = append(out, m)
		for _, c := range sortedCalls(m) {
			if child := m.Children[c.Name]; child != nil {
				walk(child)
			}
		}
	}
	if t.Root != nil {
		walk(t.Root)
	}
	return out
}
