package config

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

func TestParseVariableValue(t *testing.T) {
	tests := []struct{ decl, text, want string }{
		{``, `[1]`, `cty.StringVal("[1]")`},
		{`type = string`, `a "b" ${c}`, `cty.StringVal("a \"b\" ${c}")`},
		{`type = number`, `5`, `cty.NumberIntVal(5)`},
		{`type = number`, ` 5`, `Unsuitable value for var.v set using -var: a number is required, not " 5".`},
		{`type = bool`, `true`, `cty.True`},
		{`type = any`, `[1]`, `cty.TupleVal([]cty.Value{cty.NumberIntVal(1)})`},
		{`type = list(string)`, `[1]`, `cty.ListVal([]cty.Value{cty.StringVal("1")})`},
		{`type = object({a = optional(string, "d")})`, `{}`, `cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("d")})`},
		{`type = map(number)`, `{ a = "x" }`, `Unsuitable value for var.v set using -var: at ["a"]: a number is required.`},
		{`type = list`, `3`, `Unsuitable value for var.v set using -var: list of any single type required, but have number. Write it as in ["value"].`},
		{`type = object({ a = list(any) })`, `{ a = 3 }`, `Unsuitable value for var.v set using -var: attribute "a": list of any single type required, but have number. Write it as in { a = ["value"] }.`},
		{`type = list(string)`, `3`, `Unsuitable value for var.v set using -var: list of string required, but have number. Write it as in ["a", "b"].`},
		{`type = object({ b = bool, a = list(number), o = optional(string) })`, `{ b = true }`, `Unsuitable value for var.v set using -var: attribute "a" is required. Write it as in { a = [1], b = true }.`},
		{`type = any`, `hello`, `The value of var.v from -var must be an expression, such as "value". Variables may not be used here.`},
		{`type = list(string)`, `null`, `cty.NullVal(cty.List(cty.String))`},
		{`type = list(string)`, `[var.x]`, `The value of var.v from -var must be an expression of type list of string, such as ["a", "b"]. Variables may not be used here.`},
		{"type = map(number)\nsensitive = true", `{ hunter2 = "x" }`, `Unsuitable value for var.v set using -var: map of number required. Write it as in { name = 1 }.`},
		{"type = list(string)\nephemeral = true", `[hunter2`, `The value of var.v from -var must be an expression of type list of string, such as ["a", "b"]. What was given is not shown, because the variable is sensitive or ephemeral.`},
		{"type = list(string)\nephemeral = true", `[hunter2()]`, `The value of var.v from -var must be an expression of type list of string, such as ["a", "b"]. What was given is not shown, because the variable is sensitive or ephemeral.`},
	}
	for _, tt := range tests {
		tree, problems := load("m.tf", "variable \"v\" {\n"+tt.decl+"\n}")
		if problems != "" {
			t.Fatal(problems)
		}
		val, diags := ParseVariableValue(tree.Root.Variables["v"], tt.text, "-var")
		got := val.GoString()
		if diags.HasErrors() {
			got = diags[0].Detail
			if place := diags[0].Subject.Filename; place != "m.tf" && place != "<-var>" {
				t.Errorf("%s = %s: got the error at %s, want it at m.tf or <-var>", tt.decl, tt.text, place)
			}
			if val.IsKnown() {
				t.Errorf("%s = %s: known value with an error", tt.decl, tt.text)
			}
		}
		if got != tt.want {
			t.Errorf("%s = %s: got %s, want %s", tt.decl, tt.text, got, tt.want)
		}
	}
}

func TestExampleOf(t *testing.T) {
	tests := []struct{ ty, want string }{
		{`string`, `"value"`},
		{`set(bool)`, `[true]`},
		{`map(list(string))`, `{ name = ["a", "b"] }`},
		{`tuple([string, number])`, `["value", 1]`},
		{`object({ o = optional(string) })`, `{}`},
		{`object({ a = string, b = string, c = string, d = string })`, `{ a = "value", b = "value", c = "value", ... }`},
		{`list(list(list(list(number))))`, `[[[...]]]`},
	}
	for _, tt := range tests {
		tree, problems := load("m.tf", "variable \"v\" {\ntype = "+tt.ty+"\n}")
		if problems != "" {
			t.Fatal(problems)
		}
		if got := exampleOf(tree.Root.Variables["v"].Constraint); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.ty, got, tt.want)
		}
	}
}

// TestE7_ConversionHidesValues has secrets in every place of a value from where conversion errors could take
// them.
func TestE7_ConversionHidesValues(t *testing.T) {
	for _, mark := range []string{"sensitive", "ephemeral"} {
		tree, _ := load("m.tf", "variable \"v\" {\n"+mark+" = true\ntype = object({ a = map(number) })\n}")
		v := tree.Root.Variables["v"]
		for _, val := range []cty.Value{
			cty.StringVal("hunter2"),
			cty.ObjectVal(map[string]cty.Value{"a": cty.MapVal(map[string]cty.Value{"hunter2": cty.StringVal("x")})}),
			cty.ObjectVal(map[string]cty.Value{"a": cty.MapVal(map[string]cty.Value{"x": cty.StringVal("hunter2")})}),
			cty.ObjectVal(map[string]cty.Value{"hunter2": cty.True}),
		} {
			if _, err := v.Convert(val); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", mark, err)
			}
		}
	}
}

func TestLoadVarsFile(t *testing.T) {
	fsys := fstest.MapFS{
		"a.tfvars":      {Data: []byte("a = [1, \"x\"]\nb = foo.bar\nc = upper(\"x\")\nvariable \"d\" {}\n")},
		"b.tfvars.json": {Data: []byte(`{"a": {"b": "${not.a.template}"}, "n": null}`)},
		"c.tfvars":      {Data: []byte("a = ")},
		"d.tfvars.json": {Data: []byte("{\n\"a\": 1\n\"b\": 2}")},
		"e.tfvars.json": {Data: []byte(`["a"]`)},
		"f.tfvars":      {Data: []byte("variable \"a\" {\n  default = [1, 2]\n}\n")},
		"g.tfvars":      {Data: []byte("variable \"pw\" {\n  default = \"hunter2\"\n}\n")},
		"h.tfvars":      {Data: []byte("a {\n  x = 1\n}\n")},
		"j.tfvars":      {Data: []byte("a = b,c\n")},
		"i.tfvars":      {Data: []byte("resource \"x\" \"y\" {}\n")},
	}
	tests := []struct {
		file   string
		values map[string]string
		diags  string
	}{
		{
			"a.tfvars",
			map[string]string{"a": `cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.StringVal("x")})`, "b": "cty.DynamicVal", "c": "cty.DynamicVal"},
			`error: a.tfvars:4,1-9: Unexpected "variable" block: Blocks are not allowed here. This file only sets values. To set the variable, write:
  d = VALUE

Variables are declared in a configuration file (.tf or .tofu).
error: a.tfvars:2,5-8: Variables not allowed: This is a reference, and a file of values holds plain values. If it is meant to be text, write it in double quotes.
error: a.tfvars:3,5-15: Function calls not allowed: A file of values holds plain values: nothing in it can refer to variables or other objects, or call functions.
`,
		},
		{"b.tfvars.json", map[string]string{"a": `cty.ObjectVal(map[string]cty.Value{"b":cty.StringVal("${not.a.template}")})`, "n": "cty.NullVal(cty.DynamicPseudoType)"}, ""},
		{"c.tfvars", nil, "error: c.tfvars:1,5-5: Missing expression: Expected the start of an expression, but found the end of the file.\n"},
		{"d.tfvars.json", nil, "error: d.tfvars.json:3,1-2: Missing attribute separator comma: A comma must appear between each property definition in an object.\n"},
		{"e.tfvars.json", nil, "error: e.tfvars.json:1,1-2: Incorrect JSON value type: A JSON file of values must be one object, such as {\"name\": \"value\"}.\n"},
		{"f.tfvars", nil, "error: f.tfvars:1,1-9: Unexpected \"variable\" block: Blocks are not allowed here. This file only sets values. To set the variable, write:\n  a = [1, 2]\n\nVariables are declared in a configuration file (.tf or .tofu).\n"},
		{"g.tfvars", nil, "error: g.tfvars:1,1-9: Unexpected \"variable\" block: Blocks are not allowed here. This file only sets values. To set the variable, write:\n  pw = VALUE\n\nVariables are declared in a configuration file (.tf or .tofu).\n"},
		{"h.tfvars", nil, "error: h.tfvars:1,1-2: Unexpected \"a\" block: Blocks are not allowed here. This file only sets values. To set the variable, write:\n  a = { ... }\n\nVariables are declared in a configuration file (.tf or .tofu).\n"},
		{"i.tfvars", nil, "error: i.tfvars:1,1-9: Unexpected \"resource\" block: Blocks are not allowed here. This file only sets values, as in name = \"value\" or name = { ... }. Variables are declared in a configuration file (.tf or .tofu).\n"},
		{"j.tfvars", nil, "error: j.tfvars:1,6-7: Unexpected comma after argument: Argument definitions must be separated by newlines, not commas. An argument definition must end with a newline.\n"},
		{"gone.tfvars", nil, "error: Failed to read file: The file \"gone.tfvars\" could not be read: file does not exist.\n"},
	}
	for _, tt := range tests {
		file, diags := LoadVarsFile(fsys, tt.file, map[string]*Variable{"a": {Name: "a"}, "pw": {Name: "pw", Sensitive: true}})
		got := map[string]string{}
		for name, v := range file.Values {
			got[name] = v.Value.GoString()
			if v.NameRange.Filename != tt.file {
				t.Errorf("%s: got the range %s, want it in %s", name, v.NameRange, tt.file)
			}
		}
		if tt.values != nil {
			if diff := cmp.Diff(tt.values, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.file, diff)
			}
		}
		if diff := cmp.Diff(tt.diags, show(diags)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.file, diff)
		}
	}
}

// TestE7_VarsFileSource has values in all kinds of places, of which only those of the variables a, b and c
// may be shown.
func TestE7_VarsFileSource(t *testing.T) {
	vars := map[string]*Variable{
		"a": {Name: "a"}, "b": {Name: "b"}, "c": {Name: "c"}, "pw": {Name: "pw", Sensitive: true}, "tok": {Name: "tok", Ephemeral: true},
	}
	for _, test := range []struct{ file, src, want string }{
		{"x.tfvars", "a = 1\npw = \"hunter2\"\nb = \"x\"\n", "a = 1\npw = *********\nb = \"x\"\n"},
		{"x.tfvars", "tok = {\n  k = \"hunter2\" # y\n}\nnone = \"hunter2\"\n", "tok = *\n  * * ********* * *\n*\nnone = *********\n"},
		{"x.tfvars", "a = { pw = \"x\" }\n", "a = { pw = \"x\" }\n"},
		{"x.tfvars.json", `{"a": [1], "pw": {"k": "hunter2"}}`, `{"a": [1], "pw": ***** **********}`},
		// not files of values
		{"x.tfvars", "# y\na = \"x\nb = 2\npw = \"hunter2\"\na = 3\n", "* *\na = \"x\nb = 2\npw = *********\n* * *\n"},
		{"x.tfvars", "a = {\n  k = \"x\"\n  l = \n}\n", "a = {\n  k = \"x\"\n  l = \n}\n"},
		{"x.tfvars", "a = {\n  pw = \"hunter2\"\n  l = \n}\n", "a = {\n  pw = *********\n  * * \n*\n"},
		{"x.tfvars", "a = {\nk = \"hunter2\"\n l = \n", "a = {\nk = *********\n * * \n"},
		{"x.tfvars", "a {\n  x = 1\n}\nvariable \"pw\" { default = \"hunter2\" }\n", "a {\n  x = 1\n}\nvariable \"pw\" { ******* * ********* *\n"},
		{"x.tfvars", "hunter2", "*******"},
		{"x.tfvars", "hunter2\na = 1", "*******\na = 1"},
		{"x.tfvars.json", "{\n\"a\": {\"k\": 1}\n\"b\": 2,\n\"none\": \"hunter2\"}", "{\n\"a\": {\"k\": 1}\n\"b\": 2,\n\"none\": **********"},
		{"x.tfvars.json", `["hunter2"]`, `["*******"]`},
		{"x.tfvars.json", `[["{\"hunter2\\", -5], {"x": null}]`, `[["************", **], {"*": ****}]`},
		{"x.tfvars.json", `[{"a": "x"}]`, `[{"a": "x"}]`},
		{"x.tfvars.json", `["hunter2", {"a": "x"}]`, `*********** {"a": "x"}]`},
	} {
		file, _ := LoadVarsFile(fstest.MapFS{test.file: {Data: []byte(test.src)}}, test.file, vars)
		if diff := cmp.Diff(test.want, string(file.Source)); diff != "" {
			t.Errorf("%s: %s", test.src, diff)
		}
	}
}

// unreadable has a directory that cannot be listed.
type unreadable struct{ FS }

func (unreadable) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrPermission }

// TestUnreadableDirectory does not pass for an empty one.
func TestUnreadableDirectory(t *testing.T) {
	l := &Loader{FS: unreadable{fstest.MapFS{}}}
	if !l.IsConfigDir("root") {
		t.Error("there may be files")
	}
	if _, diags := l.AutoVarsFiles("root"); !diags.HasErrors() {
		t.Error("values are left out without an error")
	}
	if _, diags := l.TestFileNames("root"); !diags.HasErrors() {
		t.Error("tests are left out without an error")
	}
}

func TestAutoVarsFiles(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{"terraform.tfvars.json", "terraform.tfvars", "b.auto.tfvars", "a.auto.tfvars.json", "other.tfvars", ".c.auto.tfvars", "d.auto.tfvars~", "sub/x.auto.tfvars"} {
		fsys["root/"+name] = &fstest.MapFile{}
	}
	got, _ := (&Loader{FS: fsys}).AutoVarsFiles("root")
	want := []string{"root/terraform.tfvars", "root/terraform.tfvars.json", "root/a.auto.tfvars.json", "root/b.auto.tfvars"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, diags := (&Loader{FS: fsys}).AutoVarsFiles("none"); got != nil || len(diags) > 0 {
		t.Error(got, diags)
	}
}

func TestVariableRequired(t *testing.T) {
	tree, problems := load("m.tf", "variable \"a\" {}\nvariable \"b\" {\n default = null\n}\nvariable \"c\" {\n default = 1\n}")
	var required []string
	for _, name := range slices.Sorted(maps.Keys(tree.Root.Variables)) {
		if tree.Root.Variables[name].Required() {
			required = append(required, name)
		}
	}
	if d := cmp.Diff([]string{"a"}, required); d != "" || problems != "" {
		t.Error(d, problems)
	}
}
