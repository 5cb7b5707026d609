package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/docs/schemas"
)

// TestSchemas checks the schemas themselves: by the metaschema, and that everything in them is described.
func TestSchemas(t *testing.T) {
	for _, strict := range []bool{false, true} {
		if _, err := Compile(strict); err != nil {
			t.Error(err)
		}
	}
	for _, name := range schemas.Names() {
		text, _ := schemas.Read(name)
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(name, err)
		}
		if doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" || doc["$id"] != schemas.Base+name+".json" || doc["title"] == nil {
			t.Errorf("%s.json: got dialect %v, identifier %v, title %v, want all of them", name, doc["$schema"], doc["$id"], doc["title"])
		}
		described(t, name, doc)
		var again bytes.Buffer
		if err := json.Indent(&again, bytes.TrimSpace(text), "", "  "); err != nil || again.String()+"\n" != string(text) {
			t.Errorf("%s.json: got\n%s\nwant it indented by two spaces:\n%s", name, text, again.String())
		}
	}
}

// described reports members without a description. One that is described where it is defined needs none.
func described(t *testing.T, path string, schema any) {
	t.Helper()
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for _, key := range []string{"properties", "$defs"} {
		all, _ := s[key].(map[string]any)
		for name, one := range all {
			m, _ := one.(map[string]any)
			if m["description"] == nil && m["$ref"] == nil && m["const"] == nil && !strings.HasSuffix(path, ".if") {
				t.Errorf("%s.%s has no description", path, name)
			}
			described(t, path+"."+name, one)
		}
	}
	for _, key := range []string{"items", "additionalProperties", "if", "then"} {
		described(t, path+"."+key, s[key])
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		all, _ := s[key].([]any)
		for i, one := range all {
			described(t, fmt.Sprintf("%s.%d", path, i), one)
		}
	}
}

// TestStrict checks that what is not described is refused here, and allowed as published.
func TestStrict(t *testing.T) {
	const line = `{"@level":"info","@message":"m","@module":"mayfly.ui","@timestamp":"2026-01-02T03:04:05.000006Z",`
	published, err := Compile(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, doc string
		ok, open  bool // in tests, and as published
	}{
		{"version", `{"terraform_version":"1","platform":"a_b","provider_selections":{}}`, true, true},
		{"version", `{"terraform_version":"1","platform":"a_b","provider_selections":{},"more":1}`, false, true},
		{"version", `{"terraform_version":"1","provider_selections":{}}`, false, false},
		{"events", line + `"type":"workspace_list","workspaces":["a"]}`, true, true},
		{"events", line + `"type":"workspace_list","workspaces":["a"],"hook":1}`, false, true},
		{"events", line + `"type":"workspace_list"}`, false, false},
		{"events", line + `"type":"new"}`, false, true},
		{"events", `{"@level":"info"}`, false, false},
		{"validation", `{"format_version":"1.0","valid":true,"error_count":0,"warning_count":0,"diagnostics":[{"severity":"error","summary":"s","detail":"d","more":1}]}`, false, true},
		{"explanation", `{"format_version":"1.0","answers":[{"address":"a","kind":"spell","headline":"h"}]}`, false, true},
		{"examination", `{"format_version":"1.0","problems":0,"notes":1,"groups":[{"name":"n","title":"N","findings":[{"level":"note","subject":"s","text":"t"}]}]}`, false, true},
	} {
		if err := Check(c.name, []byte(c.doc)); (err == nil) != c.ok {
			t.Errorf("%s %s: got %v, want success %t", c.name, c.doc, err, c.ok)
		}
		var value any
		if err := json.Unmarshal([]byte(c.doc), &value); err != nil {
			t.Fatal(err)
		}
		if err := published[c.name].Validate(value); (err == nil) != c.open {
			t.Errorf("as published, %s %s: got %v, want success %t", c.name, c.doc, err, c.open)
		}
	}
	if !slices.Contains(schemas.Names(), schemas.Common) {
		t.Error("there is no schema of what others have in common")
	}
}
