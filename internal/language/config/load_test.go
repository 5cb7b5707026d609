package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// TestLoad loads the files of each archive in testdata/load and compares the diagnostics, a dump of the model
// and the version check with its last sections. Set MAYFLY_UPDATE_GOLDEN to rewrite those.
func TestLoad(t *testing.T) {
	names, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys, golden := fstest.MapFS{}, map[string]*txtar.File{}
			for i, f := range archive.Files {
				if f.Name == "want" || f.Name == "model" || f.Name == "version" {
					golden[f.Name] = &archive.Files[i]
				} else {
					fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			tree, diags := (&Loader{FS: fsys}).Load(".")
			got := map[string]string{"want": show(diags), "model": dump(tree), "version": incompatible(fsys)}
			for section, file := range golden {
				if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
					file.Data = []byte(got[section])
				} else if diff := cmp.Diff(string(file.Data), got[section]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", section, diff)
				}
			}
			if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func show(diags diag.List) string {
	var sb strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&sb, "%s: %s\n", d.Severity, d)
	}
	return sb.String()
}

// dump writes the parts of a tree that decoding decides about, one object a line.
func dump(t *Tree) string {
	var sb strings.Builder
	for _, m := range t.SortedModules() {
		fmt.Fprintf(&sb, "module %q dir=%s\n", m.Path, m.Dir)
		dumpModule(&sb, m)
	}
	return sb.String()
}

func dumpModule(sb *strings.Builder, m *Module) {
	for _, c := range m.RequiredVersions {
		fmt.Fprintf(sb, "  required_version %s\n", c.Text)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Required)) {
		rp := m.Required[k]
		fmt.Fprintf(sb, "  requires %s = %s %s %v\n", k, rp.Source, rp.Version.Text, rp.Aliases)
	}
	if m.Backend != nil {
		fmt.Fprintf(sb, "  backend %s\n", m.Backend.Type)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Providers)) {
		fmt.Fprintf(sb, "  provider %s for_each=%t args=%s\n", k, m.Providers[k].ForEach != nil, args(m.Providers[k].Body))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Variables)) {
		v := m.Variables[k]
		def := "none"
		if v.Default != cty.NilVal {
			def = v.Default.GoString()
		}
		fmt.Fprintf(sb, "  variable %s type=%s default=%s literal=%t %q\n", k, typeexpr.TypeString(v.Constraint), def, v.ParseLiteral, v.Description)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Locals)) {
		fmt.Fprintf(sb, "  local %s = %s\n", k, exprText(m.Locals[k].Expr))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Outputs)) {
		fmt.Fprintf(sb, "  output %s = %s depends_on=%s\n", k, exprText(m.Outputs[k].Expr), travs(m.Outputs[k].DependsOn))
	}
	for _, r := range m.Order {
		dumpResource(sb, m, r)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Calls)) {
		c := m.Calls[k]
		fmt.Fprintf(sb, "  module %s source=%q version=%q inputs=%v", k, c.Source, c.Version.Text, slices.Sorted(maps.Keys(c.Inputs)))
		for _, p := range c.Providers {
			fmt.Fprintf(sb, " %s=%s key=%t", p.InChild, p.InParent, p.InParent.KeyExpr != nil)
		}
		fmt.Fprintln(sb)
	}
	for _, mv := range m.Moved {
		fmt.Fprintf(sb, "  moved %s\n", travs([]hcl.Traversal{mv.From, mv.To}))
	}
	for _, rm := range m.Removed {
		fmt.Fprintf(sb, "  removed %s destroy=%t\n", travs([]hcl.Traversal{rm.From}), rm.Destroy)
	}
	for _, im := range m.Imports {
		fmt.Fprintf(sb, "  import %s keys=%d id=%t identity=%t\n", travs([]hcl.Traversal{im.To.Steps}), len(im.To.Keys), im.ID != nil, im.Identity != nil)
	}
	for _, k := range slices.Sorted(maps.Keys(m.Checks)) {
		fmt.Fprintf(sb, "  check %s scoped=%t asserts=%d\n", k, m.Checks[k].Scoped != nil, len(m.Checks[k].Asserts))
	}
}

// incompatible returns what is incompatible with the language version of the tests.
func incompatible(fsys fstest.MapFS) string {
	_, diags := (&Loader{FS: fsys, Version: "1.12.6"}).Load(".")
	return show(slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Summary != "Incompatible module" }))
}

func dumpResource(sb *strings.Builder, m *Module, r *Resource) {
	lc := r.Lifecycle
	fmt.Fprintf(sb, "  %s provider=%s (%s) depends_on=%s args=%s", r.Addr, r.ProviderRef(), m.ProviderFor(r.ProviderRef().Name), travs(r.DependsOn), args(r.Body))
	fmt.Fprintf(sb, " count=%t for_each=%t enabled=%t cbd=%t all=%t ignore=%s", r.Repeat.Count != nil, r.Repeat.ForEach != nil, r.Repeat.Enabled != nil,
		lc.CreateBeforeDestroy, lc.IgnoreAll, travs(lc.IgnoreChanges))
	fmt.Fprintf(sb, " triggers=%d pre=%d post=%d", len(lc.ReplaceTriggeredBy), len(lc.Preconditions), len(lc.Postconditions))
	for _, p := range r.Provisioners {
		fmt.Fprintf(sb, " %s(destroy=%t continue=%t)", p.Type, p.Destroy, p.Continue)
	}
	fmt.Fprintln(sb)
}

// args lists the constant arguments of a body, and its nested blocks of the types that the archives use.
func args(body hcl.Body) string {
	content, rest, _ := body.PartialContent(schema("", "block", "other", "dyn", "dynamic type"))
	attrs, _ := rest.JustAttributes()
	var out []string
	for _, a := range inOrder(attrs) {
		out = append(out, a.Name+"="+exprText(a.Expr))
	}
	slices.Sort(out)
	for _, b := range content.Blocks {
		out = append(out, b.Type+args(b.Body))
	}
	return "{" + strings.Join(out, " ") + "}"
}

func exprText(e hcl.Expression) string {
	if v, diags := e.Value(nil); !diags.HasErrors() {
		if !v.IsKnown() {
			return "unknown"
		}
		return v.GoString()
	}
	return travs(e.Variables())
}

func travs(ts []hcl.Traversal) string {
	var out []string
	for _, t := range ts {
		var sb strings.Builder
		for _, s := range t {
			switch s := s.(type) {
			case hcl.TraverseRoot:
				sb.WriteString(s.Name)
			case hcl.TraverseAttr:
				sb.WriteString("." + s.Name)
			case hcl.TraverseIndex:
				k, err := addr.KeyFromValue(s.Key)
				if err != nil {
					k = addr.StringKey(err.Error())
				}
				sb.WriteString(k.String())
			}
		}
		out = append(out, sb.String())
	}
	return fmt.Sprint(out)
}
