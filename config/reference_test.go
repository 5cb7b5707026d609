package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

//go:generate env MAYFLY_UPDATE_GOLDEN=1 go test . -run TestReference

// documentedBlock is a block of the reference: its schema, and what its arguments and blocks are for.
type documentedBlock struct {
	name   string
	schema *hcl.BodySchema
	about  string
	texts  map[string]string
}

// conditional are the texts of blocks with a condition.
var conditional = map[string]string{"condition": "what must be true", "error_message": "what is reported if it is not"}

// instances are the texts of the arguments that make several instances of a block.
var instances = map[string]string{
	"count":      "how many instances there are; `count.index` is the number of each, from 0",
	"for_each":   "a map or set with an entry for each instance; `each.key` and `each.value` are that of each",
	"depends_on": "what else must be done before, besides what the arguments refer to",
}

// documentedBlocks are the blocks of the language, each below the one that contains it.
var documentedBlocks = []documentedBlock{
	{"terraform", terraformSchema, "Settings of a module.", map[string]string{
		"required_version": "the versions of OpenTofu that the module works with, in files that end in `.tofu`; in `.tf` files it is about Terraform and has no effect",
		"experiments":      "there are none: any is an error", "language": "there is one edition, `TF2021`",
		"required_providers": "the sources and versions of the providers, as objects by local name: `{ source, version, configuration_aliases }`",
		"backend":            "where [states are kept](../backends.md); root module only", "cloud": "a service that [keeps states](../backends.md#services-with-workspaces-of-their-own); root module only",
		"encryption": "how [states and plans are encrypted](../encryption.md); root module only", "provider_meta": "what a provider is given about the module",
	}},
	{"terraform.encryption", encryptionSchema, "How states and saved plans are [encrypted](../encryption.md).", map[string]string{
		"key_provider": "where a key comes from", "method": "how it is encrypted with it", "state": "of states", "plan": "of saved plans",
		"remote_state_data_sources": "of the states that `terraform_remote_state` reads",
	}},
	{"terraform.encryption.state", targetSchema, "What encrypts states. A `plan` block has the same arguments.", map[string]string{
		"method": "the method, such as `method.aes_gcm.main`", "enforced": "`true` makes it an error to be without a method", "fallback": "a `method` that files are also read with",
	}},
	{"language", languageSchema, "Settings that all programs of the language read.", map[string]string{
		"edition": "there is one, `tofu2024`", "experiments": "there are none: any is an error", "compatible_with": "with the argument `opentofu`: the versions that the module works with",
	}},
	{"provider", providerSchema, "A configuration of a provider. The other arguments are the provider's.", map[string]string{
		"alias": "the name of a further configuration, used as `NAME.ALIAS`", "version": "deprecated: use `required_providers`",
		"for_each": "a map or set with an entry for each instance of the configuration, chosen as `NAME.ALIAS[KEY]`; needs an `alias`",
	}},
	{"variable", variableSchema, "An input of a module: `var.NAME`.", map[string]string{
		"type": "the type, with `optional(TYPE, DEFAULT)` for attributes of objects", "default": "the value if none is given", "description": "for people",
		"sensitive": "`true` keeps the value out of what is shown", "ephemeral": "`true` keeps the value out of states and plans, and allows ephemeral values",
		"nullable": "`false` replaces null by the default", "deprecated": "what callers that set the variable are warned with",
		"const": "`true` allows only values that are known before anything is evaluated", "validation": "a condition for the value; any number",
	}},
	{"variable.validation", conditionSchema, "A condition for the value.", conditional},
	{"locals", nil, "Named values: each argument `NAME` is `local.NAME`.", nil},
	{"output", outputSchema, "A result of a module: `module.MODULE.NAME` for its caller.", map[string]string{
		"value": "the value", "type": "a type that the value is converted to", "description": "for people", "sensitive": "`true` keeps the value out of what is shown",
		"ephemeral": "`true` allows ephemeral values; not in the root module", "deprecated": "what callers that use the output are warned with",
		"depends_on": instances["depends_on"], "precondition": "a condition that is evaluated before the value",
	}},
	{"resource", resourceSchema, "An object that is created, changed and destroyed: `TYPE.NAME`. The other arguments are the provider's. `data` and `ephemeral` blocks have the same arguments, without `connection` and `provisioner`.", with(instances, map[string]string{
		"provider": "the configuration of the provider, such as `aws.west`", "lifecycle": "how changes are made, and conditions",
		"connection": "how the provisioners reach a machine", "provisioner": "a program to run after the creation or before the destruction; any number",
	})},
	{"resource.lifecycle", lifecycleSchema, "How an object is changed. `data` and `ephemeral` blocks have only `enabled` and conditions.", map[string]string{
		"create_before_destroy": "`true` creates a replacement before the old object is destroyed", "prevent_destroy": "`true` makes plans that destroy the object errors",
		"ignore_changes": "arguments whose changes have no effect, or `all`", "replace_triggered_by": "resources and attributes whose changes replace the object",
		"enabled": "`false` makes the block have no instance", "destroy": "`false` forgets the object in place of destroying it",
		"precondition": "a condition that is evaluated before the object is changed", "postcondition": "a condition that is evaluated after it, with `self`",
	}},
	{"resource.lifecycle.precondition", conditionSchema, "A condition. `postcondition` has the same arguments.", conditional},
	{"resource.provisioner", provisionerSchema, "A program to run. The other arguments are those of its type: `local-exec`, `remote-exec` or `file`.", map[string]string{
		"when": "`create` or `destroy`", "on_failure": "`fail` or `continue`", "connection": "how to reach a machine, in place of the block of the resource",
	}},
	{"module", moduleSchema, "A call of another module: `module.NAME`. The other arguments are its variables.", with(instances, map[string]string{
		"source": "where it is: a path that begins with `./` or `../`, a registry, or an address", "version": "which versions to take from a registry",
		"providers": "the configurations of providers for it, by their names there", "lifecycle": "with the argument `enabled`",
	})},
	{"module.lifecycle", moduleLifecycleSchema, "Whether a module is used.", map[string]string{"enabled": "`false` makes the block have no instance"}},
	{"moved", movedSchema, "Says that an object has another address now.", map[string]string{"from": "its former address", "to": "its new address"}},
	{"removed", removedSchema, "Says what becomes of the objects of a block that is gone.", map[string]string{
		"from": "the address of the resource or module", "lifecycle": "with the argument `destroy`", "provisioner": "to run before an object is destroyed", "connection": "for the provisioners",
	}},
	{"removed.lifecycle", removedLifecycleSchema, "What becomes of the objects.", map[string]string{"destroy": "`true` destroys them, `false` forgets them"}},
	{"import", importSchema, "Takes an existing object into the state.", map[string]string{
		"to": "its address", "id": "what the provider finds it by", "identity": "an object that the provider finds it by, in place of `id`",
		"for_each": "a map or set with an entry for each object", "provider": "the configuration of the provider that imports it",
	}},
	{"check", checkSchema, "Conditions that give warnings if they are not met.", map[string]string{
		"data": "a data source for the assertions, whose errors are warnings", "ephemeral": "an ephemeral resource for the assertions, whose errors are warnings", "assert": "a condition; any number",
	}},
	{"check.assert", conditionSchema, "A condition.", conditional},
}

// testBlocks are the blocks of test files.
var testBlocks = []documentedBlock{
	{"test", testSchema, "Settings of a test file.", map[string]string{"parallel": "`true` lets runs be made side by side"}},
	{"run", runSchema, "A plan or apply of the module, and what must be true afterwards.", map[string]string{
		"command": "`apply` or `plan`", "providers": "the configurations of providers", "expect_failures": "the objects whose conditions must not be met",
		"state_key": "the name of the state that the run works on", "parallel": "`true` lets the run be made beside others", "variables": "values of input variables, as arguments",
		"module": "another module to run", "plan_options": "options of the plan", "assert": "a condition; any number",
		"override_resource": "values for a resource", "override_data": "values for a data source", "override_ephemeral": "values for an ephemeral resource", "override_module": "outputs for a module",
	}},
	{"run.module", runModuleSchema, "The module that a run works on.", map[string]string{"source": "where it is", "version": "which versions to take from a registry"}},
	{"run.plan_options", planOptionsSchema, "Options of a run's plan.", map[string]string{
		"mode": "`normal` or `refresh-only`", "refresh": "`false` plans from the state alone", "replace": "instances to replace", "target": "what to plan only", "exclude": "what to leave out",
	}},
	{"mock_provider", mockSchema, "A provider that answers without its plugin.", map[string]string{
		"alias": "as in a `provider` block", "source": "a directory of files with more of these blocks", "override_during": "`plan` or `apply`: when computed attributes have their values",
		"mock_resource": "defaults for a type of resource", "mock_data": "defaults for a type of data source", "mock_ephemeral": "defaults for a type of ephemeral resource",
		"override_resource": "values for a resource", "override_data": "values for a data source", "override_ephemeral": "values for an ephemeral resource", "override_module": "outputs for a module",
	}},
	{"mock_provider.mock_resource", defaultsSchema, "Defaults for a type. `mock_data` and `mock_ephemeral` have the same arguments.", map[string]string{"defaults": "values of computed attributes", "override_during": "`plan` or `apply`"}},
	{"override_resource", valuesSchema, "Values for the instances of one resource. `override_data` and `override_ephemeral` have the same arguments.", map[string]string{
		"target": "its address", "values": "values of computed attributes", "override_during": "`plan` or `apply`",
	}},
	{"override_module", outputsSchema, "Outputs in place of a module.", map[string]string{"target": "its address", "outputs": "the outputs", "override_during": "`plan` or `apply`"}},
}

// reservedItems are in schemas only to be refused.
var reservedItems = []string{"output.postcondition", "resource.locals", "module.locals", "resource.provisioner.lifecycle", "provider.count", "provider.depends_on", "provider.source", "provider.lifecycle", "provider.locals"}

func with(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// TestReference compares docs/reference/blocks.md with the schemas of the language. The page is written by:
// go generate ./config
func TestReference(t *testing.T) {
	var out strings.Builder
	out.WriteString("# Blocks\n\nThe blocks of the language with their arguments. A test compares this page with the tables that files are decoded by.\n")
	for _, b := range documentedBlocks {
		b.write(t, &out)
	}
	out.WriteString("\n# Test files\n\nThe blocks of files that end in `.tftest.hcl` or `.tofutest.hcl` ([tests](../testing.md)). They may also have `provider` blocks, and `variables` with values for all runs.\n")
	for _, b := range testBlocks {
		b.write(t, &out)
	}
	for _, top := range slices.Concat(fileSchema.Blocks, testFileSchema.Blocks) {
		described := func(b documentedBlock) bool { return b.name == top.Type }
		same := slices.Contains([]string{"data", "ephemeral", "variables", "override_data", "override_ephemeral"}, top.Type)
		if !same && !slices.ContainsFunc(documentedBlocks, described) && !slices.ContainsFunc(testBlocks, described) {
			t.Errorf("the block %q is not in the reference", top.Type)
		}
	}
	file := filepath.Join("..", "docs", "reference", "blocks.md")
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != out.String() {
		t.Errorf("docs/reference/blocks.md is not what the schemas say (%v): run go generate ./config", err)
	}
}

// write writes the section of a block. Everything in its schema needs a text, and no text may be left over.
func (b documentedBlock) write(t *testing.T, out *strings.Builder) {
	t.Helper()
	fmt.Fprintf(out, "\n## %s\n\n%s\n", b.name, b.about)
	if b.schema == nil {
		return
	}
	left := with(b.texts, nil)
	row := func(kind, item, shown string) {
		if slices.Contains(reservedItems, b.name+"."+item) {
			return
		}
		if left[item] == "" {
			t.Errorf("the %s %q of the block %q has no description", kind, item, b.name)
		}
		fmt.Fprintf(out, "| %s | `%s` | %s |\n", kind, shown, left[item])
		delete(left, item)
	}
	out.WriteString("\n| | | |\n|---|---|---|\n")
	for _, a := range b.schema.Attributes {
		kind := "argument"
		if a.Required {
			kind = "required argument"
		}
		row(kind, a.Name, a.Name)
	}
	for _, inner := range b.schema.Blocks {
		row("block", inner.Type, strings.Join(append([]string{inner.Type}, labels(inner)...), " "))
	}
	for item := range left {
		t.Errorf("the block %q has no %q", b.name, item)
	}
}

// labels returns the labels of a block in the form of a placeholder.
func labels(b hcl.BlockHeaderSchema) []string {
	var out []string
	for _, l := range b.LabelNames {
		out = append(out, `"`+strings.ToUpper(l)+`"`)
	}
	return out
}
