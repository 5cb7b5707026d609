package config

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mayfly-iac/mayfly/addr"
)

// queryFS has a configuration with query files, in its root module and in one that it calls.
var queryFS = fstest.MapFS{
	"main.tf":             {Data: []byte("module \"m\" {\n  source = \"./m\"\n}\nvariable \"a\" {}\n")},
	"one.tfquery.hcl":     {Data: []byte("list \"t_x\" \"one\" {\n  limit = 5\n  config {\n    a = var.a\n  }\n}\nvariable \"b\" {}\nlocals {\n  c = 1\n}\nprovider \"t\" {\n  alias = \"d\"\n}\n")},
	"two.tfquery.json":    {Data: []byte(`{"list": {"t_x": {"two": {"provider": "t.d", "include_resource": true, "config": {"a": 1}}}}}`)},
	".hidden.tfquery.hcl": {Data: []byte("broken")},
	"m/m.tf":              {Data: []byte("locals {}")},
	"m/m.tfquery.hcl":     {Data: []byte("broken")},
}

func TestQueryFiles(t *testing.T) {
	tree, diags := (&Loader{FS: queryFS, Queries: SomeQueries}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if got := strings.Join(tree.Root.Queries, " "); got != "one.tfquery.hcl two.tfquery.json" {
		t.Errorf("read: got %s, want %s", got, "one.tfquery.hcl two.tfquery.json")
	}
	lists := tree.Lists()
	if len(lists) != 2 || lists[0].Addr.String() != "list.t_x.one" || lists[0].List.Limit == nil || lists[1].ProviderRef().String() != "t.d" || lists[1].List.Include == nil {
		t.Fatalf("got the lists %v, want t_x.one with a limit, and one of t.d that includes the resource", lists)
	}
	for i, r := range lists {
		if attrs, diags := r.Body.JustAttributes(); diags.HasErrors() || len(attrs) != 1 || attrs["a"] == nil {
			t.Errorf("configuration of list %d: got %v, %v, want the attribute a alone", i, attrs, diags)
		}
	}
	m := tree.Root
	if m.Variables["a"] == nil || m.Variables["b"] == nil || m.Locals["c"] == nil || m.Providers["t.d"] == nil {
		t.Errorf("not merged: %v %v %v", m.Variables, m.Locals, m.Providers)
	}

	tree, diags = (&Loader{FS: queryFS}).Load(".")
	if diags.HasErrors() || len(tree.Lists()) > 0 || tree.Root.Variables["b"] != nil {
		t.Errorf("query files are read although they are not asked for: %v", diags)
	}
}

func TestQueryMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no list", "locals {}", "No lists"},
		{"twice", "list \"t_x\" \"a\" {}\nlist \"t_x\" \"a\" {}", "A block for the t_x list named \"a\" is already at"},
		{"twice in two files", "variable \"a\" {}\nlist \"t_x\" \"a\" {}", "was already defined at main.tf"},
		{"bad names", "list \"t_x\" \"a b\" {}", "Invalid list name"},
		{"bad type", "list \"_x\" \"a\" {}", "Invalid list type"},
		{"two configurations", "list \"t_x\" \"a\" {\n  config {}\n  config {}\n}", "Duplicate config block"},
		{"repeated twice", "list \"t_x\" \"a\" {\n  count = 1\n  for_each = {}\n}", "Invalid combination"},
		{"another block", "output \"a\" {\n  value = 1\n}", "Block of type \"output\" in a query file"},
		{"no block", "nothing \"a\" {}", "Unsupported block type"},
		{"a list elsewhere", "list \"t_x\" \"a\" {\n  lifecycle {}\n}", "Unsupported block type"},
	} {
		files := fstest.MapFS{"main.tf": {Data: []byte("variable \"a\" {}\n")}, "q.tfquery.hcl": {Data: []byte(test.text)}}
		_, diags := (&Loader{FS: files, Queries: SomeQueries}).Load(".")
		if err := diags.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	_, diags := (&Loader{FS: fstest.MapFS{"main.tf": {Data: []byte("locals {}")}}, Queries: SomeQueries}).Load(".")
	if err := diags.Err(); err == nil || !strings.Contains(err.Error(), "No query files") {
		t.Errorf("without files: %v", err)
	}
	if _, diags = (&Loader{FS: fstest.MapFS{"main.tf": {Data: []byte("locals {}")}}, Queries: AnyQueries}).Load("."); diags.HasErrors() {
		t.Errorf("files that are not needed: %v", diags)
	}
	only := &Loader{FS: fstest.MapFS{"q.tfquery.hcl": {Data: []byte("locals {}")}}}
	if only.IsConfigDir(".") {
		t.Error("query files make a configuration although they are not read")
	}
	if only.Queries = AnyQueries; !only.IsConfigDir(".") {
		t.Error("query files make no configuration")
	}
	if m, _ := only.LoadModule(".", addr.RootModule); len(m.Queries) != 1 {
		t.Error("the root module alone lacks its query files")
	}
}
