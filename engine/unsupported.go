package engine

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
)

// unsupported reports the parts of a configuration that this version does not support, so that none is
// silently ignored.
func unsupported(tree *config.Tree) diag.List {
	var diags diag.List
	no := func(rng hcl.Range, what, instead string) {
		diags = append(diags, diag.At(rng, "Not supported yet", "This version of Mayfly does not carry out %s. %s", what, instead)...)
	}
	for _, m := range tree.SortedModules() {
		if m.Encryption != nil {
			no(m.Encryption.Range, "encryption of state and plan", "The state would be stored unencrypted.")
		}
	}
	return diags
}
