package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config/reference"
)

// surroundings are the shortest valid configurations around an argument of each block.
var surroundings = map[string]string{
	"terraform": "terraform {\n%s\n}", "language": "language {\n%s\n}", "language.compatible_with": "language {\ncompatible_with {\n%s\n}\n}",
	"provider": "provider \"a\" {\nalias = \"b\"\n%s\n}", "variable": "variable \"a\" {\n%s\n}", "output": "output \"a\" {\nvalue = 1\n%s\n}",
	"module.lifecycle": "module \"a\" {\nsource = \"./a\"\nlifecycle {\n%s\n}\n}", "removed.lifecycle": "removed {\nfrom = a_b.c\nlifecycle {\n%s\n}\n}",
	"resource": "resource \"a_b\" \"c\" {\n%s\n}", "data": "data \"a_b\" \"c\" {\n%s\n}", "ephemeral": "ephemeral \"a_b\" \"c\" {\n%s\n}",
	"resource.lifecycle": "resource \"a_b\" \"c\" {\nlifecycle {\n%s\n}\n}", "data.lifecycle": "data \"a_b\" \"c\" {\nlifecycle {\n%s\n}\n}",
	"ephemeral.lifecycle":  "ephemeral \"a_b\" \"c\" {\nlifecycle {\n%s\n}\n}",
	"resource.provisioner": "resource \"a_b\" \"c\" {\nprovisioner \"file\" {\n%s\n}\n}",

	"test": "test {\n%s\n}", "run": "run \"a\" {\n%s\n}", "run.module": "run \"a\" {\nmodule {\nsource = \"./a\"\n%s\n}\n}", "run.plan_options": "run \"a\" {\nplan_options {\n%s\n}\n}",
	"mock_provider": "mock_provider \"a\" {\nalias = \"b\"\n%s\n}", "mock_provider.mock_resource": "mock_provider \"a\" {\nmock_resource \"a_b\" {\n%s\n}\n}",
	"override_resource": "override_resource {\ntarget = a_b.c\n%s\n}", "override_module": "override_module {\ntarget = module.a\n%s\n}",
}

// unlike is the argument that the loader leaves to Terraform.
const unlike = "terraform.language"

// TestReferenceTypes gives arguments to the loader: one that is constant is refused if it refers to
// something, one that is not constant is accepted, keywords are accepted as they are listed, and no others.
func TestReferenceTypes(t *testing.T) {
	judged := 0
	for _, b := range reference.Blocks() {
		around, ok := surroundings[b.Path]
		if !ok {
			continue
		}
		for _, a := range b.Arguments {
			path := b.Path + "." + a.Name
			refused := func(expression string) string {
				return loadReferenced(b, fmt.Sprintf(around, a.Name+" = "+expression))
			}
			switch {
			case path == unlike || strings.Contains(around, a.Name+" ="):
				continue
			case a.Reserved:
				if refused("1") == "" {
					t.Errorf("%s is accepted, although the table says that it is reserved", path)
				}
			case a.Type == "keyword":
				for _, word := range a.Values {
					if got := refused(word); got != "" {
						t.Errorf("%s = %s: got %s, want it accepted", path, word, got)
					}
				}
				if refused("other") == "" {
					t.Errorf("%s is accepted with a word that the table lacks", path)
				}
			case !slices.Contains([]string{"bool", "string", "number", "any"}, a.Type):
				continue
			case a.Constant && refused("local.a") == "":
				t.Errorf("%s is accepted with a reference, although the table says that it is constant", path)
			case !a.Constant && refused("local.a") != "":
				t.Errorf("%s is refused with a reference, although the table does not say that it is constant: %s", path, refused("local.a"))
			case a.Constant && a.Type == "bool" && (refused("true") != "" && refused("false") != "" || refused(`"text"`) == ""):
				t.Errorf("%s is not of type bool: %s", path, refused("true"))
			}
			judged++
		}
	}
	if judged < 50 {
		t.Errorf("only %d arguments were judged", judged)
	}
}

// loadReferenced loads the text of a configuration or test file, and returns the first error.
func loadReferenced(b reference.Block, text string) string {
	name := "a.tofu"
	if b.IsTest() {
		name = "a.tftest.hcl"
	}
	l := &Loader{FS: fstest.MapFS{name: {Data: []byte(text)}, "a/a.tf": {Data: []byte("locals {\n}\n")}}}
	var diags diag.List
	if b.IsTest() {
		_, diags = l.LoadTestFile(name, map[string][]byte{})
	} else {
		_, diags = l.Load(".")
	}
	if err := diags.Err(); err != nil {
		return err.Error()
	}
	return ""
}
