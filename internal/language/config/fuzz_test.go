package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// placed checks that each diagnostic says what is wrong, and where.
func placed(t *testing.T, diags diag.List) {
	t.Helper()
	for _, d := range diags {
		if d.Summary == "" || d.Subject == nil {
			t.Errorf("a diagnostic without a place: %s: %s", d.Summary, d.Detail)
		}
	}
}

func syntaxName(name string, isJSON bool) string {
	if isJSON {
		return name + ".json"
	}
	return name
}

// FuzzVarsFile reads values for variables in both syntaxes. What is read can be written and is read back.
func FuzzVarsFile(f *testing.F) {
	f.Add("A=1/00", false)
	f.Add("a = 1\nb = [\"x\", null, true]\nsecret = \"t0p\"\n", false)
	f.Add("a = {\n  b = <<E\nx\nE\n}\nvariable \"c\" { default = 1 }\n", false)
	f.Add("a = var.b\na = 2\n\"q\" = 1e9999\n", false)
	f.Add(`{"a": [1, "${x}"], "b": {"c": null}, "a": 2}`, true)
	f.Add(`[{"a": 1}]`, true)
	vars := map[string]*Variable{
		"a":      {Name: "a", Type: cty.DynamicPseudoType, Constraint: cty.DynamicPseudoType},
		"secret": {Name: "secret", Type: cty.List(cty.String), Constraint: cty.List(cty.String), Sensitive: true},
	}
	f.Fuzz(func(t *testing.T, src string, isJSON bool) {
		name := syntaxName("x.tfvars", isJSON)
		file, diags := LoadVarsFile(fstest.MapFS{name: {Data: []byte(src)}}, name, vars)
		placed(t, diags)
		if diags.HasErrors() {
			return
		}
		out := hclwrite.NewEmptyFile()
		for name, v := range file.Values {
			if !v.Value.IsWhollyKnown() {
				t.Fatalf("%s is unknown, without an error", name)
			}
			out.Body().SetAttributeValue(name, v.Value)
		}
		if isJSON || slices.ContainsFunc(slices.Collect(maps.Values(file.Values)), infinite) {
			return // names may be anything in JSON, and infinity cannot be written
		}
		again, diags := LoadVarsFile(fstest.MapFS{name: {Data: out.Bytes()}}, name, vars)
		if diags.HasErrors() || len(again.Values) != len(file.Values) {
			t.Fatalf("reading what was written: got %s and %d values, want %d of\n%s", diags, len(again.Values), len(file.Values), out.Bytes())
		}
		for name, v := range file.Values {
			if got := again.Values[name].Value; !got.RawEquals(v.Value) {
				t.Errorf("%s: got %#v, and then %#v, want %#v", name, v.Value, got, v.Value)
			}
		}
	})
}

// infinite reports whether a value has a number like the result of 1/0.
func infinite(v *VarValue) bool {
	found := false
	_ = cty.Walk(v.Value, func(_ cty.Path, e cty.Value) (bool, error) {
		found = found || e.Type() == cty.Number && !e.IsNull() && e.AsBigFloat().IsInf()
		return true, nil
	})
	return found
}

// FuzzTestFile reads test files in both syntaxes, with a file of mocks of the same text.
func FuzzTestFile(f *testing.F) {
	f.Add("test { parallel = true }\nvariables { a = 1 }\nrun \"r\" {\n  command = plan\n  assert {\n    condition = true\n    error_message = \"m\"\n  }\n}\n", false)
	f.Add("mock_provider \"p\" {\n  source = \"./mocks\"\n  mock_resource \"t\" {\n    defaults = { a = 1 }\n  }\n}\noverride_module {\n  target = module.m[0]\n}\n", false)
	f.Add("run \"r\" {\n  module { source = \"./x\" }\n  providers = { a = a.b }\n  expect_failures = [var.a, check.c, module.m[0].a.b, module.m[\"k\"][0].x]\n  plan_options {\n    mode = refresh-only\n    target = [a.b[\"k\"]]\n  }\n}\nrun \"r\" {}\n", false)
	f.Add(`{"run": {"r": {"command": "apply", "variables": {"a": "${run.q.x}"}}}, "mock_provider": {"p": [{"alias": "x"}]}}`, true)
	f.Fuzz(func(t *testing.T, src string, isJSON bool) {
		name := syntaxName("x.tftest", isJSON)
		if !isJSON {
			name += ".hcl"
		}
		mocks := strings.Replace(name, "tftest", "tfmock", 1)
		file, diags := (&Loader{FS: fstest.MapFS{
			name: {Data: []byte(src)}, "mocks/" + mocks: {Data: []byte(src)}, "m.tf": {Data: nil},
		}, Version: "1.12.6"}).LoadTestFile(name, map[string][]byte{})
		if file == nil {
			t.Fatal("no file")
		}
		placed(t, diags)
	})
}

// FuzzParseEncryption reads the encryption block of the environment.
func FuzzParseEncryption(f *testing.F) {
	f.Add("key_provider \"static\" \"k\" {\n  key = \"00\"\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.static.k\n}\nstate {\n  method = method.aes_gcm.m\n  fallback {}\n}\n")
	f.Add(`{"state": {"enforced": true}, "remote_state_data_sources": {"default": {}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		e, diags := ParseEncryption([]byte(src), "TF_ENCRYPTION")
		if e == nil && !diags.HasErrors() {
			t.Fatal("neither a block nor an error")
		}
		placed(t, diags)
	})
}
