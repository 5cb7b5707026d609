package schema

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

// metaBlocks are the blocks that the language has in resources, beside the blocks of the schema.
var metaBlocks = []string{"lifecycle", "provisioner", "connection"}

// explainDynamic adds the type that may have been meant to the errors about dynamic blocks of an unknown
// type, since dynblock suggests nothing.
func explainDynamic(diags hcl.Diagnostics, schema *hcl.BodySchema) {
	const unexpected = "Blocks of type %q are not expected here."
	for i, d := range diags {
		var name string
		if n, _ := fmt.Sscanf(d.Detail, unexpected, &name); n != 1 || d.Detail != fmt.Sprintf(unexpected, name) {
			continue
		}
		explained := *d
		explained.Detail += dynamicHint(name, schema)
		diags[i] = &explained
	}
}

func dynamicHint(name string, schema *hcl.BodySchema) string {
	var blocks []string
	for _, b := range schema.Blocks {
		blocks = append(blocks, b.Type)
	}
	isArgument := slices.ContainsFunc(schema.Attributes, func(a hcl.AttributeSchema) bool { return a.Name == name })
	switch {
	case isArgument:
		return fmt.Sprintf(" It is an argument: write it with an equals sign and a for expression, as in %s = { for k, v in VALUES : k => v }.", name)
	case slices.Contains(metaBlocks, name):
		return fmt.Sprintf(" A block of type %q cannot be generated: write it without the dynamic block.", name)
	}
	return diag.DidYouMean(name, blocks)
}
