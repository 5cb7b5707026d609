package config

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// load loads a root module of one file.
func load(name, content string) (*Tree, string) {
	tree, diags := (&Loader{FS: fstest.MapFS{name: {Data: []byte(content)}}}).Load(".")
	var summaries []string
	for _, d := range diags {
		summaries = append(summaries, d.Severity.String()+": "+d.Summary)
	}
	return tree, strings.Join(summaries, "\n")
}

func TestBadInput(t *testing.T) {
	repeat := strings.Repeat
	const n = 120_000
	tests := map[string]struct{ file, content, want string }{
		"brackets":             {"m.tf", "locals {\n a = " + repeat("[", n), "error: Nesting too deep"},
		"braces":               {"m.tf", repeat("a {\n", n), "error: Nesting too deep"},
		"parentheses":          {"m.tf", "locals {\n a = " + repeat("(", n) + "1" + repeat(")", n) + "\n}", "error: Nesting too deep"},
		"templates":            {"m.tf", "locals {\n a = " + repeat(`"${`, n), "error: Nesting too deep"},
		"directives":           {"m.tf", "locals {\n a = \"" + repeat(`%{if true}`, n) + "\"\n}", "error: Nesting too deep"},
		"negations":            {"m.tf", "locals {\n a = " + repeat("!", n) + "true\n}", "error: Nesting too deep"},
		"sums":                 {"m.tf", "locals {\n a = 1" + repeat("+1", n) + "\n}", "error: Nesting too deep"},
		"sums over lines":      {"m.tf", "locals {\n a = (1" + repeat("+1\n", n) + ")\n}", "error: Nesting too deep"},
		"sums in for":          {"m.tf", "locals {\n a = {for k in x : k => 1" + repeat("+1\n", n) + "}\n}", "error: Nesting too deep"},
		"conditions":           {"m.tf", "locals {\n a = " + repeat("x ? 1 : ", n) + "1\n}", "error: Nesting too deep"},
		"indexes":              {"m.tf", "locals {\n a = x" + repeat("[y]", n) + "\n}", "error: Nesting too deep"},
		"JSON arrays":          {"m.tf.json", `{"locals": {"a": ` + repeat("[", n), "error: Nesting too deep"},
		"JSON objects":         {"m.tf.json", repeat(`{"a":`, n), "error: Nesting too deep"},
		"JSON template":        {"m.tf.json", `{"locals": {"a": "${` + repeat("(", n) + `"}}`, "error: Nesting too deep"},
		"JSON type":            {"m.tf.json", `{"variable": {"a": {"type": "` + repeat("list(", n) + `"}}}`, "error: Nesting too deep"},
		"JSON type operator":   {"m.tf.json", `{"variable": {"a": {"type": "` + repeat("!", n) + `x"}}}`, "error: Invalid type specification"},
		"JSON reference":       {"m.tf.json", `{"moved": {"from": "` + repeat("!", n) + `x", "to": "a.b"}}`, "error: Nesting too deep"},
		"number":               {"m.tf", "locals {\n a = 1e9999999\n}", "error: Invalid number"},
		"digits":               {"m.tf", "locals {\n a = " + repeat("9", 2*bounds.MaxDigits) + "\n}", "error: Invalid number"},
		"fraction":             {"m.tf", "locals {\n a = 1.5e-99999\n}", "error: Invalid number"},
		"number in template":   {"m.tf", "locals {\n a = \"${1e99999}\"\n}", "error: Invalid number"},
		"JSON number":          {"m.tf.json", `{"locals": {"a": [-1E+99999]}}`, "error: Invalid number"},
		"JSON template number": {"m.tf.json", `{"locals": {"a": "${1e99999}"}}`, "error: Invalid number"},
		"no number":            {"m.tf", "locals {\n a = \"12e99999 ${1e300} \" # 1e99999\n  b1e99999 = 1e9990\n}", ""},
		"no JSON number":       {"m.tf.json", `{"locals": {"a": "1e99999", "b1e99999": 1e300}}`, ""},
		"invalid UTF-8":        {"m.tf", "locals {\n a = \"\xff\"\n}", "error: Invalid character encoding"},
		"UTF-16":               {"m.tf", "\xff\xfel\x00", "error: Invalid character encoding"},
		"byte order mark":      {"m.tf", "\xef\xbb\xbflocals {}", "warning: Unicode byte order mark"},
		"too large":            {"m.tf", repeat("#", maxFileSize+1), "error: File too large"},
		"JSON scalar":          {"m.tf.json", `1`, "error: Root value must be object"},
		"JSON wrong types":     {"m.tf.json", `{"resource": 1, "locals": [2], "module": {"m": null}}`, "error: Incorrect JSON value type\nerror: Missing block label\nerror: Incorrect JSON value type"},
		"open string":          {"m.tf", "locals { a = \"", "error: Invalid multi-line string\nerror: Invalid single-argument block definition"},
		"nul bytes":            {"m.tf", "\x00\x00", "error: Invalid character\nerror: Invalid character"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree, got := load(tt.file, tt.content)
			if tree.Root == nil {
				t.Error("no root module")
			}
			if name == "open string" || name == "nul bytes" {
				if !strings.HasPrefix(got, "error: ") {
					t.Errorf("got %q, want errors", got)
				}
				return
			}
			if got != tt.want {
				t.Errorf("got %.500q, want %q", got, tt.want)
			}
		})
	}
}

func TestErrorsOfOneFileAreLimited(t *testing.T) {
	_, diags := (&Loader{FS: fstest.MapFS{"m.tf": {Data: []byte(strings.Repeat("a b c = 1 ? \n", 5000))}}}).Load(".")
	if len(diags) > 2*(maxFileDiagnostics+1) || len(diags) < 2 {
		t.Errorf("%d diagnostics", len(diags))
	}
}

// TestLargeIsNotDeep has files that are long or broad in every way but deep.
func TestLargeIsNotDeep(t *testing.T) {
	var native, js bytes.Buffer
	js.WriteString(`{"locals": [`)
	for i := range 5000 {
		fmt.Fprintf(&native, "resource \"a_b\" \"r%d\" {\n  x = [1, -2, (3 + 4) * 5, { a = \"${i}-%%{if x}y%%{endif}\" }]\n  y {\n    z = a.b[0].c\n  }\n}\n", i)
		fmt.Fprintf(&js, `{"l%d": "${a.b[0]} (((", "m%d": [{"a": "%s"}]},`, i, i, strings.Repeat("text ", 10))
	}
	fmt.Fprintf(&native, "locals {\n  list = [%s]\n  heredoc = <<-E\n%s  E\n}\n", strings.Repeat("1 + 2, ", 50_000), strings.Repeat("  ${a} text [{(\n", 5_000))
	js.WriteString(`{}]}`)
	if _, got := load("m.tf", native.String()); got != "" {
		t.Errorf("native: got %.300s, want no errors", got)
	}
	if tree, got := load("m.tf.json", js.String()); got != "" || len(tree.Root.Locals) != 10_000 {
		t.Errorf("JSON: got %.300s, %d values, want no errors, 10000 values", got, len(tree.Root.Locals))
	}
}

// TestDepthWithinBounds goes near the bounds: what is accepted must not exhaust the stack.
func TestDepthWithinBounds(t *testing.T) {
	repeat := strings.Repeat
	const ops, deep = bounds.MaxOperators - 100, bounds.MaxLevels - 100
	for name, expr := range map[string]string{
		"negations":   repeat("!", ops) + "true",
		"sums":        "1" + repeat("+1", ops),
		"conditions":  repeat("true ? 1 : ", ops/2) + "1",
		"parentheses": repeat("(", deep) + "1" + repeat(")", deep),
		"lists":       repeat("[", deep) + repeat("]", deep),
		// Just below what is scanned at all, with brackets in strings that hide how deep it is.
		"not scanned": repeat("(\")\"==", ops) + "1" + repeat(")", ops),
	} {
		tree, got := load("m.tf", "locals {\n a = "+expr+"\n}")
		if got != "" {
			t.Errorf("%s: got %.200s, want no errors", name, got)
			continue
		}
		if _, diags := tree.Root.Locals["a"].Expr.Value(nil); diags.HasErrors() {
			t.Errorf("%s: %s", name, diags[0])
		}
	}
}

func TestInvalidUTF8Position(t *testing.T) {
	_, diags := checkEncoding([]byte("ab\ncé\xfe"), "f")
	want := `f:2,3-4: Invalid character encoding: The file "f" is not encoded in UTF-8: the byte 0xfe is invalid here. Save the file as UTF-8.`
	if len(diags) != 1 || diags[0].String() != want {
		t.Errorf("got %v, want %s", diags, want)
	}
}

func TestSelectFiles(t *testing.T) {
	dir := fstest.MapFS{}
	for _, name := range []string{
		"a.tf", "a.tofu", "a.tf.json", "b.tf.json", "b.tofu.json", "c.tf", ".h.tf", "d.tf~", "#e.tf#", ".#f.tf", "g.txt",
		"override.tf", "x_override.tf", "x_override.tofu", "override.tofu.json", "my_override_not.tf", ".tf", "dir.tf/inner", "_override.tf",
	} {
		dir[name] = &fstest.MapFile{}
	}
	dir["pipe.tf"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	entries, err := dir.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	primary, override := selectFiles(entries)
	if d := cmp.Diff([]string{"a.tf.json", "a.tofu", "b.tofu.json", "c.tf", "my_override_not.tf", "pipe.tf"}, primary); d != "" {
		t.Error("primary", d)
	}
	if d := cmp.Diff([]string{"_override.tf", "override.tf", "override.tofu.json", "x_override.tofu"}, override); d != "" {
		t.Error("override", d)
	}
}

// FuzzLoad looks for crashes and for errors without a place; native and JSON syntax, with and without an
// override.
func FuzzLoad(f *testing.F) {
	f.Add("m.tf", "resource \"a_b\" \"c\" {\n  count = 1\n  lifecycle { ignore_changes = [a[0].b] }\n provider = a.b[each.key]\n}\n", "")
	f.Add("m.tf", "module \"m\" {\n  source = \"./\"\n providers = { a = a.b }\n}\nvariable \"x\" {\n type = object({a = optional(string)})\n default = {}\n}", "")
	f.Add("m.tf.json", `{"terraform": {"required_providers": {"a": {"source": "x/y"}}}, "check": {"c": {"assert": {}}}}`, "")
	f.Add("m.tf", "moved {\n from = module.a.b.c\n to = b.c[\"k\"]\n}\nremoved { from = a.b }\nimport {\n to = a.b[x]\n id = 1\n}", "locals { a = 1 }")
	f.Add("m.tf", "locals { a = 1 }\noutput \"o\" { value = 1 }", "locals { a = 2 }\noutput \"o\" { value = 1 }")
	f.Fuzz(func(t *testing.T, name, main, over string) {
		file := "m.tf"
		if strings.HasSuffix(name, ".json") {
			file = "m.tf.json"
		}
		fsys := fstest.MapFS{file: {Data: []byte(main)}, "x_override.tf": {Data: []byte(over)}}
		tree, diags := (&Loader{FS: fsys, Version: "1.12.6"}).Load(".")
		if tree == nil || tree.Root == nil {
			t.Fatal("no tree")
		}
		placed(t, diags)
	})
}
