package config

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// TestFile is a test file: runs of a module, and their shared settings. Nothing in it is evaluated. Name is
// also the name of Source in ranges. The maps are never nil.
type TestFile struct {
	Name      string // slash separated, relative to the working directory
	Source    []byte
	Parallel  bool
	Variables map[string]*hcl.Attribute
	Providers map[string]*Provider // by local name, or "name.alias"
	Mocks     map[string]*Mock     // likewise
	Overrides []*Override
	Runs      []*TestRun
}

// Mock is a mock_provider block: it answers for a provider configuration without a process. It also mocks
// ephemeral resources (E83).
type Mock struct {
	Name, Alias string
	ForEach     hcl.Expression // the instances of the configuration; nil for the ones that the module declares
	Source      string         // the directory of files with mocks, "" for none
	Defaults    []*MockDefaults
	Overrides   []*Override
	DuringPlan  bool
	Range       hcl.Range
}

// Ref returns the name of the provider configuration.
func (m *Mock) Ref() ProviderRef { return ProviderRef{Name: m.Name, Alias: m.Alias, Range: m.Range} }

// MockDefaults are the values of computed attributes for all mocked objects of a type. Attributes that they
// leave out get made-up values of their types. With DuringPlan, the values are known in the plan already;
// otherwise they are unknown there, as a provider's would be.
type MockDefaults struct {
	Mode       addr.Mode
	Type       string
	Values     hcl.Expression // nil for none
	DuringPlan bool
	Range      hcl.Range
}

// Override replaces a provider's answers about objects, or the outputs of a module.
type Override struct {
	Target     addr.Target
	Bare       []int          // the module steps without a key or [*] of a target with [*], which stands for all instances
	Values     hcl.Expression // of computed attributes, or outputs; nil for none
	DuringPlan bool
	Range      hcl.Range
}

// Module reports whether a module is replaced.
func (o *Override) Module() bool { return o.Target.Resource == nil }

var (
	// The schemas of a test file and its blocks. Files of mocks have the content of a mock_provider block,
	// without its arguments.
	testFileSchema = schema("", "test", "variables", "provider name", "mock_provider name", "override_resource", "override_data",
		"override_ephemeral", "override_module", "run name")
	testSchema     = schema("parallel")
	mockSchema     = schema("alias for_each source override_during", "mock_resource type", "mock_data type", "mock_ephemeral type", "override_resource", "override_data", "override_ephemeral", "override_module")
	mockFileSchema = schema("", "mock_resource type", "mock_data type", "mock_ephemeral type", "override_resource", "override_data", "override_ephemeral", "override_module")
	defaultsSchema = schema("defaults override_during")
	valuesSchema   = schema("target! values override_during")
	outputsSchema  = schema("target! outputs override_during")
)

// testSuffixes are the suffixes of test files. If two files share a base name and a syntax, the first
// suffix hides the second.
var testSuffixes = [][2]string{{".tofutest.hcl", ".tftest.hcl"}, {".tofutest.json", ".tftest.json"}}

// mockSuffixes are the suffixes of files with mocks. They hide each other like testSuffixes.
var mockSuffixes = [][2]string{{".tofumock.hcl", ".tfmock.hcl"}, {".tofumock.json", ".tfmock.json"}}

// TestFileNames lists the test files of the directories, sorted within each. A directory that does not exist
// has none.
func (l *Loader) TestFileNames(dirs ...string) (out []string, diags diag.List) {
	for _, dir := range dirs {
		names, ds := l.filesWith(dir, testSuffixes)
		diags = append(diags, ds...)
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, diags
}

// filesWith lists the files of a directory with one of the suffixes, sorted, without those that are hidden
// by another. The names begin with dir.
func (l *Loader) filesWith(dir string, suffixes [][2]string) ([]string, diag.List) {
	entries, err := l.fs().ReadDir(dir)
	if err != nil {
		return nil, unlisted(dir, err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = !e.IsDir()
	}
	var out []string
	for name, file := range names {
		for _, s := range suffixes {
			base, shadowed := strings.CutSuffix(name, s[1])
			if file && !ignoredName(name) && (shadowed && !names[base+s[0]] || strings.HasSuffix(name, s[0])) {
				out = append(out, joinFile(path.Clean(dir), name))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// LoadTestFile reads a test file, and the files of mocks that it names. All names are relative to the working
// directory. The files that it reads are added to sources.
func (l *Loader) LoadTestFile(name string, sources map[string][]byte) (*TestFile, diag.List) {
	r := &reader{}
	d := &testDecoder{reader: r, module: &decoder{reader: r, m: newModule(addr.RootModule, ".")}, loader: l, sources: sources}
	d.file = &TestFile{Name: name, Variables: map[string]*hcl.Attribute{}, Mocks: map[string]*Mock{}}
	content := d.parse(name, testFileSchema)
	d.file.Source = sources[name]
	if content != nil {
		d.blocks(content)
	}
	d.file.Providers = d.module.m.Providers
	return d.file, withoutConsequences(d.diags)
}

// testDecoder decodes a test file.
type testDecoder struct {
	*reader
	module  *decoder // of an empty root module, where the provider blocks of the file are collected
	loader  *Loader
	sources map[string][]byte
	file    *TestFile
}

// parse reads a file of blocks; nil if that failed, which was reported.
func (d *testDecoder) parse(name string, s *hcl.BodySchema) *hcl.BodyContent {
	src, diags := readChecked(d.loader.fs(), name)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return nil
	}
	d.sources[name] = src
	body, diags := parse(src, name)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return nil
	}
	return d.content(diag.Named(body), s)
}

// blocks decodes the blocks of a test file. Settings of the file apply to the runs that don't have their own,
// so runs are completed last.
func (d *testDecoder) blocks(content *hcl.BodyContent) {
	if b := d.single(content, "test", "test block"); b != nil {
		d.file.Parallel = d.flag(d.content(b.Body, testSchema), "parallel", false)
	}
	if b := d.single(content, "variables", "variables block"); b != nil {
		d.file.Variables = d.attributes(b.Body)
	}
	for _, b := range content.Blocks {
		switch b.Type {
		case "provider":
			d.testProvider(b)
		case "mock_provider":
			d.mock(b)
		case "run":
			d.run(b)
		}
	}
	d.file.Overrides = d.overrides(content, false)
	for _, r := range d.file.Runs {
		r.Parallel = r.Parallel || d.file.Parallel && !r.parallelSet
	}
}

// testProvider decodes a provider block, which may refer to earlier runs.
func (d *testDecoder) testProvider(b *hcl.Block) {
	key := strings.Replace(strings.TrimPrefix(declKey(b), "provider "), " ", ".", 1)
	if first := d.module.m.Providers[key]; first != nil {
		d.duplicate(b, &hcl.Block{DefRange: first.Range})
		return
	}
	d.module.provider(b)
	if p := d.module.m.Providers[key]; p != nil {
		p.Test = true
	}
}

// mock decodes a mock_provider block and the files in the directory that its source names. The block's own
// defaults have precedence over defaults in files.
func (d *testDecoder) mock(b *hcl.Block) {
	m := &Mock{Name: b.Labels[0], Range: b.DefRange}
	if !d.providerName(m.Name, b.LabelRanges[0], "") {
		return
	}
	content := d.content(b.Body, mockSchema)
	m.Alias = d.text(content, "alias")
	if attr := content.Attributes["for_each"]; attr != nil {
		if m.ForEach = attr.Expr; m.Alias == "" {
			d.aliasRequired(attr)
		}
	}
	m.DuringPlan = d.during(content, false)
	d.defaults(m, content)
	m.Source = d.text(content, "source")
	if dir := m.Source; dir != "" {
		names, diags := d.loader.filesWith(dir, mockSuffixes)
		d.diags = append(d.diags, diags...)
		if len(names) == 0 && len(diags) == 0 {
			d.errorAt(content.Attributes["source"].Expr.Range(), "No mock files found",
				"The directory %s has no files of mocks: their names end in .tfmock.hcl or .tofumock.hcl. The name of the directory starts from the working directory.", dir)
		}
		for _, name := range names {
			if shared := d.parse(name, mockFileSchema); shared != nil {
				d.defaults(m, shared)
			}
		}
	}
	key := m.Ref().String()
	if first := d.file.Mocks[key]; first != nil {
		d.errorAt(m.Range, "Duplicate mock_provider block", "The provider configuration %q is already mocked at %s.", key, diag.Place(first.Range))
		return
	}
	d.file.Mocks[key] = m
}

var blockModes = map[string]addr.Mode{"resource": addr.Managed, "data": addr.Data, "ephemeral": addr.Ephemeral}

// defaults adds the content of a mock_provider block, or of a file of mocks, each type once. The first one
// added has precedence.
func (d *testDecoder) defaults(m *Mock, content *hcl.BodyContent) {
	first := map[[2]string]hcl.Range{}
	for _, b := range content.Blocks {
		mode, ok := blockModes[strings.TrimPrefix(b.Type, "mock_")]
		if !ok || !strings.HasPrefix(b.Type, "mock_") {
			continue
		}
		key := [2]string{b.Type, b.Labels[0]}
		if at, ok := first[key]; ok {
			d.errorAt(b.DefRange, "Duplicate "+b.Type+" block", "%s is already mocked at %s.", b.Labels[0], diag.Place(at))
			continue
		}
		first[key] = b.DefRange
		inner := d.content(b.Body, defaultsSchema)
		v := &MockDefaults{Mode: mode, Type: b.Labels[0], DuringPlan: d.during(inner, m.DuringPlan), Range: b.DefRange}
		if attr := inner.Attributes["defaults"]; attr != nil {
			v.Values = attr.Expr
		}
		m.Defaults = append(m.Defaults, v)
	}
	m.Overrides = append(m.Overrides, d.overrides(content, m.DuringPlan)...)
}

// during decodes override_during, which says whether values are known when planning already.
func (d *testDecoder) during(content *hcl.BodyContent, otherwise bool) bool {
	if attr := content.Attributes["override_during"]; attr != nil {
		if word, ok := d.keyword(attr, "plan", "apply"); ok {
			return word == "plan"
		}
	}
	return otherwise
}

// overrides decodes the override blocks in a body, each target once, the most specific targets first. during
// applies to blocks that do not say when their values are known.
func (d *testDecoder) overrides(content *hcl.BodyContent, during bool) []*Override {
	var out []*Override
	for _, b := range content.Blocks {
		kind, ok := strings.CutPrefix(b.Type, "override_")
		if !ok {
			continue
		}
		o := d.override(b, kind, during)
		if o == nil {
			continue
		}
		if i := slices.IndexFunc(out, func(other *Override) bool { return other.Target.String() == o.Target.String() }); i >= 0 {
			d.errorAt(o.Range, "Duplicate "+b.Type+" block", "%s is already overridden at %s.", o.Target, diag.Place(out[i].Range))
			continue
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b *Override) int { return slices.Compare(b.keyed(), a.keyed()) })
	return out
}

// keyed returns 1 for each step of the target that has an instance key, and 0 for each other. A key in an
// earlier step makes a target more specific than keys in later ones.
func (o *Override) keyed() []int {
	var out []int
	add := func(key addr.Key) {
		if key == addr.NoKey {
			out = append(out, 0)
		} else {
			out = append(out, 1)
		}
	}
	for _, m := range o.Target.Module.Path() {
		_, _, key := m.Parent()
		add(key)
	}
	if !o.Module() {
		add(o.Target.Key)
	}
	return out
}

// override decodes one override block, and returns nil if its target is not an address of the right kind.
// kind is the part after "override_" in the block type.
func (d *testDecoder) override(b *hcl.Block, kind string, during bool) *Override {
	s, name := valuesSchema, "values"
	if kind == "module" {
		s, name = outputsSchema, "outputs"
	}
	content := d.content(b.Body, s)
	o := &Override{Range: b.DefRange, DuringPlan: d.during(content, during)}
	if attr := content.Attributes[name]; attr != nil {
		o.Values = attr.Expr
	}
	attr := content.Attributes["target"]
	if attr == nil {
		return nil
	}
	t, bare := d.wildcards(attr.Expr)
	if t == nil {
		return nil
	}
	o.Bare = bare
	var err error
	if o.Target, err = addr.TargetFromTraversal(t); err != nil {
		d.errorAt(attr.Expr.Range(), "Invalid target", "This is not the address of %s: %s.", kindName(kind), err)
		return nil
	}
	if mode, ok := blockModes[kind]; o.Module() == ok || ok && mode != o.Target.Resource.Mode {
		d.errorAt(attr.Expr.Range(), "Invalid target", "The target of %s must be the address of %s.", b.Type, kindName(kind))
		return nil
	}
	return o
}

// wildcards interprets an expression as an address in which [*] may stand for all instances. Its second
// result has the indices of the module steps without a key or [*], if there is a [*].
func (d *testDecoder) wildcards(expr hcl.Expression) (hcl.Traversal, []int) {
	inner, ok := d.unquote(expr).(hclsyntax.Expression)
	if _, splat := inner.(*hclsyntax.SplatExpr); !ok || !splat {
		return d.traversal(expr), nil
	}
	steps, ok := withSplats(inner)
	if !ok {
		return d.traversal(expr), nil
	}
	var out hcl.Traversal
	var bare []int
	modules := 0
	for i, step := range steps {
		if _, splat := step.(hcl.TraverseSplat); splat {
			continue
		}
		out = append(out, step)
		if i == 0 || addr.StepName(steps[i-1]) != "module" || addr.StepName(step) == "" {
			continue
		}
		if i+1 == len(steps) || addr.StepName(steps[i+1]) != "" {
			bare = append(bare, modules)
		}
		modules++
	}
	return out, bare
}

// withSplats returns an expression with [*] as an address, and whether it is one.
func withSplats(e hclsyntax.Expression) (hcl.Traversal, bool) {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return e.Traversal, true
	case *hclsyntax.AnonSymbolExpr:
		return nil, true
	case *hclsyntax.RelativeTraversalExpr:
		t, ok := withSplats(e.Source)
		return slices.Concat(t, e.Traversal), ok
	case *hclsyntax.SplatExpr:
		source, ok := withSplats(e.Source)
		each, also := withSplats(e.Each)
		return slices.Concat(source, hcl.Traversal{hcl.TraverseSplat{SrcRange: e.MarkerRange}}, each), ok && also
	}
	return nil, false
}

func kindName(kind string) string {
	return map[string]string{"resource": "a managed resource", "data": "a data source", "ephemeral": "an ephemeral resource", "module": "a module"}[kind]
}
