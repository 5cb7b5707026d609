package blockhash

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// kitSchemas is a provider named sim: all its types have the same arguments.
type kitSchemas struct {
	version  int64 // of the schemas of managed resources
	declared bool  // the provider declares the function twice
}

func kitBlock() *schema.Block {
	text := func() *schema.Attribute { return &schema.Attribute{Type: cty.String, Optional: true} }
	return &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"id":          {Type: cty.String, Computed: true},
			"name":        text(),
			"n":           {Type: cty.Number, Optional: true},
			"list":        {Type: cty.List(cty.String), Optional: true},
			"tags":        {Type: cty.Map(cty.String), Optional: true},
			"any":         {Type: cty.DynamicPseudoType, Optional: true},
			"token":       {Type: cty.String, Computed: true, Sensitive: true},
			"password":    text(),
			"password_wo": {Type: cty.String, Optional: true, WriteOnly: true},
			"nested": {Optional: true, Nested: &schema.Object{Nesting: schema.Single, Attributes: map[string]*schema.Attribute{
				"user": text(), "pin": text(), "pin_wo": {Type: cty.String, Optional: true, WriteOnly: true},
			}}},
			"many": {Optional: true, Nested: &schema.Object{Nesting: schema.Map, Attributes: map[string]*schema.Attribute{
				"user": text(), "pin_wo": {Type: cty.String, Optional: true, WriteOnly: true},
			}}},
		},
		Blocks: map[string]*schema.NestedBlock{
			"rule": {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{
				"value": text(), "value_wo": {Type: cty.String, Optional: true, WriteOnly: true},
			}}},
			"step":  {Nesting: schema.List, Block: schema.Block{Attributes: map[string]*schema.Attribute{"value": text()}}},
			"one":   {Nesting: schema.Single, Block: schema.Block{Attributes: map[string]*schema.Attribute{"value": text()}}},
			"group": {Nesting: schema.Group, Block: schema.Block{Attributes: map[string]*schema.Attribute{"value": text()}}},
			"entry": {Nesting: schema.Map, Block: schema.Block{Attributes: map[string]*schema.Attribute{"value": text()}}},
			"zone":  {Nesting: schema.Set, Block: schema.Block{Attributes: map[string]*schema.Attribute{"name": text()}}},
		},
	}
}

func (k kitSchemas) Provider(addr.Provider) (*schema.Schema, diag.List) {
	return &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{
		"region": {Type: cty.String, Optional: true}, "key": {Type: cty.String, Optional: true}, "headers": {Type: cty.Map(cty.String), Optional: true},
	}}}, nil
}

func (k kitSchemas) Resource(_ addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List) {
	modes := map[string]addr.Mode{"sim_thing": addr.Managed, "sim_data": addr.Data, "sim_secret": addr.Ephemeral, "sim_act": addr.Action}
	if want, ok := modes[typeName]; !ok || want != mode {
		return nil, nil
	}
	return &schema.Schema{Version: k.version, Block: kitBlock()}, nil
}

func (k kitSchemas) Types(addr.Provider, addr.Mode) []string { return nil }

func (k kitSchemas) Functions(addr.Provider) (map[string]*schema.Function, diag.List) {
	if !k.declared {
		return nil, nil
	}
	return map[string]*schema.Function{"twice": {Params: []schema.FunctionParam{{Name: "s", Type: cty.String}}, Return: cty.String}}, nil
}

// setting is a configuration and everything else that hashes depend on.
type setting struct {
	files     map[string]string // the configuration; other files are in the directory of the test
	dir       string
	schemas   kitSchemas
	vars      map[string]cty.Value
	version   string // of the provider; "" for one under development
	workspace string
	workDir   string
	begin     func() hash.Hash
	slowCalls int
}

// split takes a text apart at "-- name --" lines.
func split(text string) map[string]string {
	out := map[string]string{}
	name, from, at := "main.tf", 0, 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if after, ok := strings.CutPrefix(line, "-- "); ok {
			out[name] = text[from:at]
			name, from = strings.TrimSuffix(strings.TrimSpace(after), " --"), at+len(line)
		}
		at += len(line)
	}
	out[name] = text[from:]
	return out
}

func newSetting(tb testing.TB, text string) *setting {
	return &setting{files: split(text), dir: tb.TempDir(), version: "1.0.0", workspace: "default", workDir: "/w"}
}

// compile loads and compiles the configuration.
func (s *setting) compile(tb testing.TB) *blocks.Config {
	tb.Helper()
	fsys := fstest.MapFS{}
	for name, content := range s.files {
		if strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tf.json") {
			fsys[name] = &fstest.MapFile{Data: []byte(content)}
			continue
		}
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	tree, diags := (&config.Loader{FS: fsys}).Load(".")
	if diags.HasErrors() {
		tb.Fatalf("the configuration does not load:\n%s", lines(diags))
	}
	cfg, diags := blocks.Compile(tree, s.schemas)
	if diags.HasErrors() {
		tb.Fatalf("the configuration does not compile:\n%s", lines(diags))
	}
	return cfg
}

func lines(diags diag.List) string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Summary+": "+d.Detail)
	}
	return strings.Join(out, "\n")
}

func (s *setting) inputs() Inputs {
	return Inputs{
		Key: []byte("key"), Variables: s.vars, Functions: funcs.Table(funcs.Options{BaseDir: s.dir}), Workspace: s.workspace, RootDir: ".", WorkDir: s.workDir,
		Version: func(addr.Provider) (string, bool) { return s.version, s.version != "" },
		Slow: func(v cty.Value) ([]byte, error) {
			s.slowCalls++
			if v == cty.NilVal {
				return nil, errors.New("a slow hash of no value")
			}
			sum := sha256.Sum256([]byte("slow " + v.GoString()))
			return sum[:], nil
		},
	}
}

func newHash() hash.Hash { return hmac.New(sha256.New, []byte("key")) }

func (s *setting) hash(tb testing.TB) *Set {
	tb.Helper()
	begin := s.begin
	if begin == nil {
		begin = newHash
	}
	set, err := of(s.compile(tb), s.inputs(), begin)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// entries returns all entries by their full names.
func entries(s *Set) map[string]Entry {
	out := map[string]Entry{}
	for _, m := range s.Modules() {
		for _, e := range m.Entries {
			out[m.Path.Join(e.Name)] = e
		}
	}
	return out
}

// changed lists the entries of which two sets have different hashes. One that has none any more has a
// question mark, one that has gone a minus sign, and a new one a plus sign.
func changed(before, after *Set) []string {
	was, is := entries(before), entries(after)
	out := []string{}
	for name, e := range is {
		old, ok := was[name]
		switch {
		case !ok:
			out = append(out, "+"+name)
		case old.Known && !e.Known:
			out = append(out, name+"?")
		case old != e:
			out = append(out, name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			out = append(out, "-"+name)
		}
	}
	slices.Sort(out)
	return out
}

// unknown lists the entries without a hash.
func unknownOf(s *Set) []string {
	out := []string{}
	for name, e := range entries(s) {
		if !e.Known {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
