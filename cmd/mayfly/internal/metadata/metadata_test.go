package metadata

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mayfly-iac/mayfly/docs/schemas"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
)

// TestSchemaIsComplete compiles each schema as the program prints it, with nothing else at hand.
func TestSchemaIsComplete(t *testing.T) {
	for _, name := range schemas.Names() {
		text, ok, err := Schema(name)
		if !ok || err != nil {
			t.Fatal(name, ok, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(name, err)
		}
		c := jsonschema.NewCompiler()
		c.UseLoader(jsonschema.SchemeURLLoader{}) // which finds nothing
		if err := c.AddResource("urn:alone", doc); err != nil {
			t.Fatal(name, err)
		}
		s, err := c.Compile("urn:alone")
		if err != nil {
			t.Errorf("%s: %s", name, err)
			continue
		}
		if err := s.Validate("a text"); err == nil && name != schemas.Common {
			t.Errorf("%s: got no error for a text, want one", name)
		}
	}
	if _, ok, _ := Schema("nothing"); ok {
		t.Error("there is a schema of nothing")
	}
}

// TestBlocksRefer checks that each content of the document is in it and is used, and that no description has
// a link, whose target would be unknown.
func TestBlocksRefer(t *testing.T) {
	text, err := Blocks(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	var doc language
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	follow := func(where string, blocks map[string]block) {
		for name, b := range blocks {
			if _, ok := doc.Contents[b.Content]; !ok && !b.Reserved {
				t.Errorf("the content %q of %s in %s is missing", b.Content, name, where)
			}
			used[b.Content] = true
		}
	}
	for where, blocks := range doc.Files {
		follow(string(where), blocks)
	}
	for path, c := range doc.Contents {
		follow(path, c.Blocks)
		for typ, c := range c.Types {
			follow(path+" "+typ, c.Blocks)
		}
	}
	for path := range doc.Contents {
		if !used[path] {
			t.Errorf("nothing has the content %s", path)
		}
	}
	if found := regexp.MustCompile(`\]\(`).Find(text); found != nil {
		t.Error("a description has a link")
	}
	for name := range kinds.All() {
		if _, ok := doc.Contents["terraform.backend"].Types[name]; !ok && name != backend.Cloud {
			t.Errorf("backends: got none of the name %s, want it listed", name)
		}
	}
}
