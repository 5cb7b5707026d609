package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

var stateStoreSchema = schema("", "provider name")

// stateStore decodes a state_store block, which has the configuration of a provider in it.
func (d *settingsDecoder) stateStore(b *hcl.Block) {
	content, rest, diags := b.Body.PartialContent(stateStoreSchema)
	d.hcl(diags)
	d.m.Backend.Type, d.m.Backend.Body, d.m.Backend.Store = b.Labels[0], rest, &StoreProvider{Range: b.DefRange}
	if len(content.Blocks) == 0 {
		d.errorAt(b.DefRange, "Missing provider of a state store",
			"A state_store block needs a block provider \"NAME\", with the local name of the provider that keeps the state and the arguments of its configuration.")
		return
	}
	if len(content.Blocks) > 1 {
		d.errorAt(content.Blocks[1].DefRange, "Duplicate provider block", "A state store has one provider. The other block is at %s.", diag.Place(content.Blocks[0].DefRange))
	}
	first := content.Blocks[0]
	if d.providerName(first.Labels[0], first.LabelRanges[0], "") {
		*d.m.Backend.Store = StoreProvider{Name: first.Labels[0], Body: first.Body, Range: first.DefRange}
	}
}

// storeProvider finds the provider of the state store, once the required providers of all files are known: it
// is installed before the rest of the configuration is looked at.
func (d *settingsDecoder) storeProvider() {
	b := d.m.Backend
	if b == nil || b.Store == nil || b.Store.Name == "" {
		return
	}
	required := d.m.Required[b.Store.Name]
	if required == nil {
		names := slices.Sorted(maps.Keys(d.m.Required))
		d.errorAt(b.Store.Range, "Provider of the state store is not required",
			"The state store %q is a part of the provider %q, which required_providers does not have.%s Add an entry with its source and versions there: the provider is installed before the state is read.",
			b.Type, b.Store.Name, diag.DidYouMean(b.Store.Name, names))
		return
	}
	b.Store.Source = required.Source
}
