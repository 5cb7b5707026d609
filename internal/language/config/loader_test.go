package config

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func mapFS(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range files {
		out[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

func TestModuleDir(t *testing.T) {
	fsys := mapFS(map[string]string{
		"main.tf":                           "module \"a\" {\n  source = \"hashicorp/consul/aws\"\n}\nmodule \"b\" {\n  source = \"git::https://example.com/x\"\n}\nmodule \"c\" {\n  source = \"./l\"\n}",
		"l/l.tf":                            "module \"deep\" {\n  source = \"x/y/z\"\n}",
		".mayfly/modules/a/main.tf":         "module \"sub\" {\n  source = \"./modules/sub\"\n}",
		".mayfly/modules/a/modules/sub/s.t": "",
	})
	l := &Loader{FS: fsys, ModuleDir: func(parent *Module, call *ModuleCall) (string, diag.List) {
		switch call.Name {
		case "a":
			return ".mayfly/modules/a", nil
		case "deep":
			if parent.Path != addr.RootModule.Child("c") {
				t.Errorf("parent of deep: got %s, want %s", parent.Path, addr.RootModule.Child("c"))
			}
			return "gone", nil
		default:
			return "", diag.Errorf("Module not installed", "Run init.")
		}
	}}
	tree, diags := l.Load(".")
	want := `error: l/l.tf:2,12-19: Unreadable module directory: Unable to read the directory gone of module "deep": it does not exist.
error: main.tf:5,12-40: Module not installed: Run init.
`
	if d := cmp.Diff(want, sortLines(show(diags))); d != "" {
		t.Error(d)
	}
	dirs := map[string]string{}
	for p, m := range tree.Modules {
		dirs[p.String()] = m.Dir
		if !p.IsRoot() && (m.Parent.Children[m.Call.Name] != m || m.Parent.Calls[m.Call.Name] != m.Call) {
			t.Errorf("%s: got the parent %v and the call %v, want them linked both ways", p, m.Parent, m.Call)
		}
	}
	wantDirs := map[string]string{"": ".", "module.a": ".mayfly/modules/a", "module.a.module.sub": ".mayfly/modules/a/modules/sub", "module.c": "l"}
	if d := cmp.Diff(wantDirs, dirs); d != "" {
		t.Error(d)
	}
}

func sortLines(s string) string {
	return strings.Join(slices.Sorted(strings.SplitAfterSeq(s, "\n")), "")
}

func TestOSFiles(t *testing.T) {
	dir := t.TempDir()
	filetest.Lay(t, dir, map[string]string{"main.tf": "module \"m\" {\n  source = \"../" + filepath.Base(dir) + "/m\"\n}", "m/a.tf.json": `{"output": {"o": {"value": 1}}}`, "empty/x.txt": ""})
	l := &Loader{}
	tree, diags := l.Load(dir)
	if len(diags) > 0 || len(tree.Modules) != 2 {
		t.Fatalf("got %d modules, want 2: %v", len(tree.Modules), diags)
	}
	child := tree.Root.Children["m"]
	if child.Dir != filepath.ToSlash(filepath.Join(dir, "m")) || child.Outputs["o"] == nil {
		t.Errorf("child: got %+v, want it in m with the output o", child)
	}
	if src := tree.Sources[filepath.ToSlash(filepath.Join(dir, "main.tf"))]; len(src) == 0 {
		t.Error("no source")
	}
	for name, want := range map[string]bool{".": true, "m": true, "empty": false, "gone": false} {
		if got := l.IsConfigDir(filepath.Join(dir, name)); got != want {
			t.Errorf("IsConfigDir(%s): got %t, want %t", name, got, want)
		}
	}
	if _, diags := l.Load(filepath.Join(dir, "gone")); !diags.HasErrors() {
		t.Error("no error for a root directory that doesn't exist")
	}
	if tree, diags := l.Load(filepath.Join(dir, "empty")); len(diags) != 0 || tree.Root == nil {
		t.Errorf("empty root directory: got %v, want no diagnostics and a root", diags)
	}
}

func TestLoadModule(t *testing.T) {
	fsys := mapFS(map[string]string{"m/a.tf": "module \"x\" {\n  source = \"./gone\"\n}\noutput \"o\" {\n  value     = 1\n  ephemeral = true\n}"})
	m, diags := (&Loader{FS: fsys}).LoadModule("m", addr.RootModule.Child("m"))
	if len(diags) > 0 || m.Calls["x"] == nil || !m.Outputs["o"].Ephemeral || len(m.Children) != 0 {
		t.Errorf("LoadModule: got %v %+v, want the call x and the ephemeral output o, and no children", diags, m)
	}
}

// loopFS has one directory that contains itself, as by a symbolic link.
type loopFS struct{ fstest.MapFS }

func (l loopFS) ReadDir(string) ([]fs.DirEntry, error) { return l.MapFS.ReadDir(".") }
func (l loopFS) ReadFile(name string) ([]byte, error)  { return l.MapFS.ReadFile(filepath.Base(name)) }

func TestDirectoryInItself(t *testing.T) {
	fsys := loopFS{mapFS(map[string]string{"m.tf": "module \"a\" {\n  source = \"./l\"\n}\nmodule \"b\" {\n  source = \"./l\"\n}"})}
	tree, diags := (&Loader{FS: fsys}).Load(".")
	if len(diags) != 1 || diags[0].Summary != "Module calls nest too deeply" || len(tree.Modules) > maxDepth {
		t.Errorf("got %d modules, %v, want at most %d, and one error about nesting", len(tree.Modules), diags, maxDepth)
	}
}

// TestModuleCallsMultiply has calls that double with each level.
func TestModuleCallsMultiply(t *testing.T) {
	files := map[string]string{"m20/m.tf": ""}
	for i := range 20 {
		files[fmt.Sprintf("m%d/m.tf", i)] = fmt.Sprintf("module \"a\" {\n  source = \"../m%d\"\n}\nmodule \"b\" {\n  source = \"../m%[1]d\"\n}\n", i+1)
	}
	tree, diags := (&Loader{FS: mapFS(files)}).Load("m0")
	if len(diags) != 1 || diags[0].Summary != "Too many module calls" || len(tree.Modules) > MaxModules {
		t.Errorf("got %d modules, %v, want at most %d, and one error about too many calls", len(tree.Modules), diags, MaxModules)
	}
}

func TestE1_EphemeralVariable(t *testing.T) {
	tree, got := load("m.tf", "variable \"a\" {\n  ephemeral = true\n  sensitive = true\n  nullable = false\n  deprecated = \"use b\"\n  type = string\n  validation {\n    condition = var.a != \"\"\n    error_message = \"empty\"\n  }\n}")
	if v := tree.Root.Variables["a"]; got != "" || !v.Ephemeral || !v.Sensitive || v.Nullable || v.Deprecated != "use b" || len(v.Validations) != 1 || !v.Secret() {
		t.Errorf("got %s and the variable %+v, want no errors, and all that is declared of it", got, v)
	}
	if _, got := load("m.tf", "variable \"a\" {\n  ephemeral = true\n  const = true\n}"); got != `error: Invalid combination of "const" and "ephemeral"` {
		t.Error(got)
	}
}

func TestE10_EphemeralOutput(t *testing.T) {
	const src = "output \"a\" {\n  value = 1\n  ephemeral = true\n}"
	fsys := mapFS(map[string]string{"m.tf": src})
	_, diags := (&Loader{FS: fsys}).Load(".")
	want := "error: m.tf:1,1-11: Unallowed ephemeral output: Root module is not allowed to have ephemeral outputs: they would have to be stored in the state. Remove the argument \"ephemeral\" and pass the value through ephemeralasnull, or remove the output.\n"
	if got := show(diags); got != want {
		t.Error(got)
	}
	if _, diags := (&Loader{FS: fsys, EphemeralRootOutputs: true}).Load("."); len(diags) > 0 {
		t.Error(diags)
	}
}

func TestE31_LifecycleOfEphemeral(t *testing.T) {
	for _, arg := range []string{"create_before_destroy = true", "prevent_destroy = true", "ignore_changes = all", "ephemeral_attributes = [x]", "replace_triggered_by = [a_b.c]", "destroy = false"} {
		name, _, _ := strings.Cut(arg, " ")
		_, diags := (&Loader{FS: mapFS(map[string]string{"m.tf": "ephemeral \"a_b\" \"c\" {\n  lifecycle {\n    " + arg + "\n  }\n}"})}).Load(".")
		want := fmt.Sprintf("error: m.tf:3,5-%d: Invalid lifecycle configuration for ephemeral resource: The lifecycle argument %q cannot be used in ephemeral resources. This is meant to be used strictly in \"resource\" blocks.\n", 5+len(name), name)
		if d := cmp.Diff(want, show(diags)); d != "" {
			t.Error(d)
		}
	}
}

func TestE32_StaticArguments(t *testing.T) {
	for name, src := range map[string]string{
		"moved":                "moved {\n  from = ephemeral.a.b\n  to = a.b\n}",
		"removed":              "removed {\n  from = ephemeral.a.b\n  lifecycle {}\n}",
		"import":               "import {\n  to = module.m[each.key].ephemeral.a.b\n  id = \"x\"\n}",
		"replace_triggered_by": "resource \"a\" \"b\" {\n  lifecycle {\n    replace_triggered_by = [ephemeral.a.b]\n  }\n}",
		"module source":        "module \"m\" {\n  source = ephemeral.a.b.c\n}",
		"required_version":     "terraform {\n  required_version = ephemeral.a.b.c\n}",
		"variable default":     "variable \"v\" {\n  default = ephemeral.a.b.c\n}",
	} {
		if _, got := load("m.tofu", src); strings.Count(got, "error: ") != 1 {
			t.Errorf("%s: got %s, want one error", name, got)
		}
	}
}

func TestRequiredVersions(t *testing.T) {
	fsys := mapFS(map[string]string{
		"main.tofu": "terraform {\n  required_version = \">= 1.5, < 2\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\nfuture {}",
		"m/m.tf":    "language {\n  compatible_with {\n    opentofu = \"~> 1.13\"\n    other = []\n  }\n}\nresource \"a_b\" \"c\" {\n  lifecycle {\n    novel = 1\n  }\n}",
	})
	for v, want := range map[string][]string{
		"1.12.6": {"m/m.tf"}, "1.13.0-dev": {"main.tofu", "m/m.tf"}, "2.0.0": {"main.tofu", "m/m.tf"}, "x": {"main.tofu", "m/m.tf"}, "": {"main.tofu", "m/m.tf"},
	} {
		_, diags := (&Loader{FS: fsys, Version: v}).Load(".")
		var got []string
		for _, d := range diags {
			got = append(got, d.Subject.Filename)
			if other := d.Summary != "Incompatible module"; other != (v == "" || v == "1.13.0-dev") {
				t.Errorf("version %q: got %s, want an incompatible module unless there is no version or it is 1.13.0-dev", v, d)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", v, got, want)
		}
	}
}

// Whether constraints count depends on the file, and all of a module that do must be met.
func TestVersionConstraints(t *testing.T) {
	const terraform = "terraform {\n  required_version = \"VALUE\"\n}\n"
	const language = "language {\n  compatible_with {\n    opentofu = \"VALUE\"\n  }\n}\n"
	for _, c := range []struct{ name, text, value, want string }{
		{"m.tf", terraform, "> 99", ""},
		{"m.tf", terraform, "nonsense", ""},
		{"m.tf.json", `{"terraform": {"required_version": "VALUE"}}`, "> 99", ""},
		{"m.tofu", terraform, "> 99", "error: Incompatible module"},
		{"m.tofu.json", `{"terraform": {"required_version": "VALUE"}}`, "> 99", "error: Incompatible module"},
		{"m_override.tofu", terraform, "> 99", "error: Incompatible module"},
		{"m.tofu", terraform, "~> 1.0", ""},
		{"m.tofu", terraform, "nonsense", "error: Invalid version constraint"},
		{"m.tofu", terraform, ">= 1.12.0-rc1", "error: Invalid required_version constraint"},
		{"m.tf", language, "> 99", "error: Incompatible module"},
		{"m.tf", language, ">= 1.12", ""},
		{"m.tf", language, "~> 1.12.0, != 1.12.3", ""},
		{"m.tf", language, "< 2", "warning: Ineffective version constraint"},
		{"m.tf", language, "~> 1", "warning: Ineffective version constraint"},
		{"m.tf", language, "nonsense", "error: Invalid version constraint"},
		{"m.tf", language, "> 1.13.0-beta1", "error: Invalid required_version constraint"},
		{"m.tf", language + "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n", "> 99", "error: Incompatible module"},
	} {
		fsys := mapFS(map[string]string{c.name: strings.ReplaceAll(c.text, "VALUE", c.value)})
		_, diags := (&Loader{FS: fsys, Version: "1.12.6"}).Load(".")
		got := ""
		for _, d := range diags {
			got += d.Severity.String() + ": " + d.Summary
		}
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

// A loader for Terraform goes by the constraints on Terraform alone.
func TestVersionConstraintsOnTerraform(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"m.tf", "terraform {\n  required_version = \"> 99\"\n}\n", "error: Incompatible module"},
		{"m.tf", "terraform {\n  required_version = \"~> 1.16.0\"\n}\n", ""},
		{"m.tf.json", `{"terraform": {"required_version": "> 99"}}`, "error: Incompatible module"},
		{"m.tf", "terraform {\n  required_version = \"nonsense\"\n}\n", "error: Invalid version constraint"},
		{"m.tofu", "terraform {\n  required_version = \"> 99\"\n}\n", ""},
		{"m.tf", "language {\n  compatible_with {\n    opentofu = \"> 99\"\n  }\n}\n", ""},
	} {
		_, diags := (&Loader{FS: mapFS(map[string]string{c.name: c.text}), Version: "1.16.2", Terraform: true}).Load(".")
		got := ""
		for _, d := range diags {
			got += d.Severity.String() + ": " + d.Summary
			if d.Summary == "Incompatible module" && !strings.Contains(d.Detail, "a version of Terraform that is > 99, but this program is compatible with version 1.16.2") {
				t.Errorf("%s: %s", c.text, d.Detail)
			}
		}
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestProviderNames(t *testing.T) {
	tree, _ := load("m.tf", "terraform {\n  required_providers {\n    x = {\n source = \"example.com/a/b\" \n}\n  }\n}\nresource \"terraform_data\" \"a\" {}\nresource \"plain\" \"b\" {}\nresource \"x_y_z\" \"c\" {}")
	got := map[string]string{}
	for _, r := range tree.Root.Order {
		got[r.Addr.Type] = tree.Root.ProviderFor(r.ImpliedProvider()).String()
	}
	want := map[string]string{"terraform_data": "terraform.io/builtin/terraform", "plain": "registry.opentofu.org/hashicorp/plain", "x_y_z": "example.com/a/b"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p := tree.Root.ProviderFor("-- no name"); p.Type != "-- no name" {
		t.Error(p)
	}
}

// TestOverlayPrefersOverride checks the rule of merging on random bodies: the override's value where it has
// one, else the base's.
func TestOverlayPrefersOverride(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.IntRange(0, 9))
		base, over := values.Draw(t, "base"), values.Draw(t, "over")
		o := overlay{base: bodyOf(t, base), over: bodyOf(t, over)}
		taken := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "taken")
		content, rest, diags := o.PartialContent(schema(taken))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		attrs, diags := rest.JustAttributes()
		if diags.HasErrors() || attrs[taken] != nil {
			t.Fatal(diags, attrs)
		}
		if a := content.Attributes[taken]; a != nil {
			attrs[taken] = a
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			want, ok := over[name]
			if !ok {
				want, ok = base[name]
			}
			if ok != (attrs[name] != nil) {
				t.Fatalf("%s: present %t, want %t", name, !ok, ok)
			}
			if ok {
				if v, _ := attrs[name].Expr.Value(nil); v.NotEqual(cty.NumberIntVal(int64(want))).True() {
					t.Fatalf("%s = %#v, want %d", name, v, want)
				}
			}
		}
	})
}

func bodyOf(t *rapid.T, values map[string]int) hcl.Body {
	var sb strings.Builder
	for name, v := range values {
		fmt.Fprintf(&sb, "%s = %d\n", name, v)
	}
	body, diags := parse([]byte(sb.String()), "x.tf")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return body
}

// TestManyCalls loads one directory by many calls: it is read once, and its problems are reported once.
func TestManyCalls(t *testing.T) {
	var main strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&main, "module \"m%d\" {\n  source = \"./m\"\n}\n", i)
	}
	counter := &countFS{FS: mapFS(map[string]string{"main.tf": main.String(), "m/m.tf": "resource \"a_b\" \"c\" {\n  count = 1\n  for_each = {}\n}"})}
	tree, diags := (&Loader{FS: counter}).Load(".")
	if len(diags) != 1 || len(tree.Modules) != 2001 || counter.reads != 2 {
		t.Errorf("got %d diagnostics, %d modules, %d reads, want 1, 2001, 2", len(diags), len(tree.Modules), counter.reads)
	}
}

type countFS struct {
	FS
	reads int
}

func (c *countFS) ReadFile(name string) ([]byte, error) {
	c.reads++
	return c.FS.ReadFile(name)
}
