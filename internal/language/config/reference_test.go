package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/language/config/reference"
)

//go:generate env MAYFLY_UPDATE_GOLDEN=1 go test . -run TestReference

// decodedBy are the schemas that blocks are decoded by, by their path in the reference. A block without a
// schema here has contents that package config does not know.
var decodedBy = map[string]*hcl.BodySchema{
	"terraform": terraformSchema, "language": languageSchema, "language.compatible_with": compatSchema, "provider": providerSchema,
	"variable": variableSchema, "variable.validation": conditionSchema, "output": outputSchema, "output.precondition": conditionSchema,
	"module": moduleSchema, "module.lifecycle": moduleLifecycleSchema, "moved": movedSchema, "ephemeral_attributes": ephemeralPolicySchema, "removed": removedSchema, "removed.lifecycle": removedLifecycleSchema,
	"import": importSchema, "check": checkSchema, "check.assert": conditionSchema,

	"terraform.encryption": encryptionSchema, "terraform.encryption.state": targetSchema, "terraform.encryption.state.fallback": fallbackSchema,
	"terraform.encryption.remote_state_data_sources": remotesSchema,

	"resource": resourceSchema, "data": without(resourceSchema, "connection", "provisioner"), "ephemeral": without(resourceSchema, "connection", "provisioner"),
	"resource.lifecycle": lifecycleSchema, "data.lifecycle": forConditions, "ephemeral.lifecycle": forConditions, "resource.provisioner": provisionerSchema,
	"resource.lifecycle.precondition": conditionSchema, "resource.lifecycle.postcondition": conditionSchema,

	"list": listSchema, "action": actionSchema, "resource.lifecycle.action_trigger": triggerSchema, "terraform.state_store": stateStoreSchema,

	"test": testSchema, "run": runSchema, "run.module": runModuleSchema, "run.plan_options": planOptionsSchema, "run.assert": conditionSchema, "mock_provider": mockSchema,
	"mock_provider.mock_resource": defaultsSchema, "override_resource": valuesSchema, "override_module": outputsSchema,
}

// forConditions is what a lifecycle block has in blocks other than those of managed resources.
var forConditions = without(lifecycleSchema, "create_before_destroy", "prevent_destroy", "ignore_changes", "ephemeral_attributes", "replace_triggered_by", "destroy", "action_trigger")

// undecoded are the blocks whose arguments have any names, or are known where they are used.
var undecoded = []string{
	"terraform.required_providers", "terraform.backend", "terraform.cloud", "terraform.state_store.provider", "terraform.provider_meta", "terraform.encryption.key_provider", "terraform.encryption.method",
	"locals", "variables", "resource.connection", "list.config", "action.config",
}

// requiredLater are the arguments whose absence is reported in words of its own.
var requiredLater = []string{"module.source", "run.module.source"}

// without returns a schema that lacks some items.
func without(s *hcl.BodySchema, names ...string) *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for _, a := range s.Attributes {
		if !slices.Contains(names, a.Name) {
			out.Attributes = append(out.Attributes, a)
		}
	}
	for _, b := range s.Blocks {
		if !slices.Contains(names, b.Type) {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out
}

// TestReferenceIsComplete compares the table of blocks with the schemas that files are decoded by.
func TestReferenceIsComplete(t *testing.T) {
	for where, s := range map[reference.Where]*hcl.BodySchema{reference.Configuration: fileSchema, reference.Queries: querySchema, reference.Tests: testFileSchema, reference.Mocks: mockFileSchema} {
		sameItems(t, string(where), reference.Block{Blocks: reference.Roots(where)}, s)
	}
	seen := map[string]bool{}
	for _, b := range reference.Blocks() {
		if seen[b.Path] {
			t.Errorf("the block %s is in the table twice", b.Path)
		}
		seen[b.Path] = true
		if s := decodedBy[b.Path]; s != nil {
			sameItems(t, b.Path, b, s)
		} else if !slices.Contains(undecoded, b.Path) {
			t.Errorf("the block %s is decoded by no schema", b.Path)
		}
		for _, inner := range b.Blocks {
			if _, ok := reference.Find(inner.Content); !ok && !inner.Reserved {
				t.Errorf("the content of block %s in %s is not in the table: %q", inner.Name, b.Path, inner.Content)
			}
		}
	}
	for path := range decodedBy {
		if !seen[path] {
			t.Errorf("the block %s is not in the table", path)
		}
	}
}

// sameItems compares a block of the reference with its schema in both directions.
func sameItems(t *testing.T, path string, b reference.Block, s *hcl.BodySchema) {
	t.Helper()
	arguments, blocks := map[string]hcl.AttributeSchema{}, map[string]hcl.BlockHeaderSchema{}
	for _, a := range s.Attributes {
		arguments[a.Name] = a
	}
	for _, inner := range s.Blocks {
		blocks[inner.Type] = inner
	}
	for _, a := range b.Arguments {
		has, ok := arguments[a.Name]
		delete(arguments, a.Name)
		switch {
		case a.About == "" || a.Type == "":
			t.Errorf("the argument %s.%s has no description or type", path, a.Name)
		case !ok:
			t.Errorf("the table has an argument %s.%s, which is not decoded", path, a.Name)
		case a.Required != (has.Required || slices.Contains(requiredLater, path+"."+a.Name)):
			t.Errorf("the argument %s.%s: the table and the schema disagree on whether it is required", path, a.Name)
		}
	}
	for _, inner := range b.Blocks {
		has, ok := blocks[inner.Name]
		delete(blocks, inner.Name)
		if !ok {
			t.Errorf("the table has a block %s.%s, which is not decoded", path, inner.Name)
		} else if !slices.Equal(has.LabelNames, inner.Labels) {
			t.Errorf("labels of the block %s.%s: got %q, want %q as in the table", path, inner.Name, has.LabelNames, inner.Labels)
		}
	}
	for name := range arguments {
		t.Errorf("the table lacks the argument %s.%s", path, name)
	}
	for name := range blocks {
		t.Errorf("the table lacks the block %s.%s", path, name)
	}
}

// TestReference compares docs/reference/blocks.md with the table. The page is written by: go generate
// ./config
func TestReference(t *testing.T) {
	var out strings.Builder
	out.WriteString("# Blocks\n\nThe blocks of the language with their arguments. `mayfly metadata blocks -json` prints this page for programs. Tests compare it with the tables that files are decoded by.\n" +
		"\nThe types `keyword`, `reference` and `type` are not evaluated. A *constant* must be known before anything is evaluated.\n")
	tests := false
	for _, b := range reference.Blocks() {
		if b.IsTest() && !tests {
			tests = true
			out.WriteString("\n# Test files\n\nThe blocks of files that end in `.tftest.hcl` or `.tofutest.hcl` ([tests](../testing.md)). They may also have `provider` blocks, and `variables` with values for all runs.\n")
		}
		if !b.Like {
			writeBlock(&out, b.Path, b)
		}
		for _, typ := range b.Types {
			writeBlock(&out, b.Path+" "+typ.Path, typ)
		}
	}
	file := filepath.Join("..", "..", "..", "docs", "reference", "blocks.md")
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != out.String() {
		t.Errorf("docs/reference/blocks.md: got another text than the table (%v), want %s: run go generate ./internal/language/config", err, out.String())
	}
}

// writeBlock writes the section of a block.
func writeBlock(out *strings.Builder, heading string, b reference.Block) {
	fmt.Fprintf(out, "\n## %s\n\n%s\n", heading, b.About)
	if len(b.Arguments)+len(b.Blocks) == 0 {
		return
	}
	out.WriteString("\n| | | type | |\n|---|---|---|---|\n")
	for _, a := range b.Arguments {
		if a.Reserved {
			continue
		}
		kind, typ := "argument", a.Type
		if a.Required {
			kind = "required argument"
		}
		if a.Constant && a.Type != "keyword" {
			typ += ", constant"
		}
		fmt.Fprintf(out, "| %s | `%s` | %s | %s |\n", kind, a.Name, typ, a.About)
	}
	for _, inner := range b.Blocks {
		if !inner.Reserved {
			fmt.Fprintf(out, "| block | `%s` | | %s |\n", strings.Join(append([]string{inner.Name}, placeholders(inner.Labels)...), " "), inner.About)
		}
	}
}

// placeholders returns labels as they are written.
func placeholders(labels []string) []string {
	var out []string
	for _, l := range labels {
		out = append(out, `"`+strings.ToUpper(l)+`"`)
	}
	return out
}
