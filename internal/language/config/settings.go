package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

var (
	terraformSchema = schema("required_version experiments language", "required_providers", "backend type", "cloud", "state_store type", "encryption", "provider_meta name")
	languageSchema  = schema("edition experiments", "compatible_with")
	compatSchema    = schema("opentofu")
)

// settingsDecoder decodes the terraform and language blocks of all files, which add up to one set of
// settings. It records which were set, and by which kind of file: an override replaces a setting, a
// repetition is an error.
type settingsDecoder struct {
	*reader
	m                           *Module
	forTerraform                bool // constraints on Terraform count, and not constraints on OpenTofu
	required, state             *hcl.Block
	requiredOverride, stateOver bool
}

// decode decodes the blocks of a module.
func (d *settingsDecoder) decode(list []setting) {
	for _, s := range list {
		if s.block.Type == "language" {
			d.language(s)
		} else {
			d.terraform(s)
		}
	}
	d.storeProvider()
}

// language decodes a language block, which programs other than OpenTofu read as well. Each takes its
// constraint from compatible_with and ignores the others' constraints.
func (d *settingsDecoder) language(s setting) {
	content := d.content(s.block.Body, languageSchema)
	d.edition(content.Attributes["edition"])
	d.experiments(content.Attributes["experiments"])
	for _, b := range content.Blocks {
		// Arguments for other programs are ignored.
		inner, _, diags := b.Body.PartialContent(compatSchema)
		d.hcl(diags)
		if d.forTerraform {
			continue
		}
		if c := d.requireVersion(inner.Attributes["opentofu"]); c != nil && c.allows(beforeCompatibleWith) {
			d.warnAt(c.Range, "Ineffective version constraint",
				"Versions of OpenTofu before 1.12.0 do not read compatible_with, so the constraint cannot keep them away. Exclude them here, as \">= 1.12.0\" does. For earlier versions, set required_version in a terraform block, in a file whose name ends in .tofu.")
		}
	}
}

// edition refuses all editions but the current one. Terraform's name for it is accepted too.
func (d *settingsDecoder) edition(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	if word := hcl.ExprAsKeyword(attr.Expr); word != "tofu2024" && word != "TF2021" {
		d.errorAt(attr.Expr.Range(), "Unsupported language edition", "The only language edition is tofu2024, which is the default. Remove this argument.")
	}
}

// experiments refuses every experiment, since there are none, and says so by name.
func (d *settingsDecoder) experiments(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	if !d.hcl(diags) {
		return
	}
	for _, e := range exprs {
		name := hcl.ExprAsKeyword(e)
		if name == "" {
			d.errorAt(e.Range(), "Invalid experiment keyword", "Experiments are written as words without quotes.")
			continue
		}
		d.errorAt(e.Range(), "Unknown experiment keyword", "There is no current experiment with the keyword %q. Remove it from the list.", name)
	}
}

// ineffective warns about an argument for Terraform in a file that Terraform does not read.
func (d *settingsDecoder) ineffective(attr *hcl.Attribute, instead string) {
	if attr != nil {
		d.warnAt(attr.Range, "Argument without effect",
			"The argument %q in a terraform block is for Terraform, which does not read this file. Remove it, or write %q in a language block.", attr.Name, instead)
	}
}

// terraform decodes a terraform block. In files that Terraform reads too, required_version and experiments
// are meant for Terraform: the latter are ignored, and the former counts if the program is taken for it.
func (d *settingsDecoder) terraform(s setting) {
	content := d.content(s.block.Body, terraformSchema)
	tofu := forTofu(s.block.DefRange.Filename)
	if tofu != d.forTerraform {
		d.requireVersion(content.Attributes["required_version"])
	}
	if tofu {
		d.ineffective(content.Attributes["experiments"], "experiments")
		d.ineffective(content.Attributes["language"], "edition")
	}
	for _, b := range content.Blocks {
		switch b.Type {
		case "required_providers":
			d.requiredProviders(b, s.override)
		case "backend", "cloud", "state_store":
			d.backend(b, s.override)
		case "encryption":
			d.rootEncryption(b, s.override)
		case "provider_meta":
			d.providerMeta(b, s.override)
		}
	}
}

// providerMeta decodes a provider_meta block, whose arguments must be constant.
func (d *settingsDecoder) providerMeta(b *hcl.Block, override bool) {
	name := b.Labels[0]
	if !d.providerName(name, b.LabelRanges[0], "") {
		return
	}
	if first := d.m.ProviderMeta[name]; first != nil && !override {
		d.errorAt(b.DefRange, "Duplicate provider_meta block", "Metadata for the provider %q was already given at %s.", name, diag.Place(first.Range))
		return
	}
	attrs, diags := b.Body.JustAttributes()
	d.hcl(diags)
	for _, attr := range inOrder(attrs) {
		_, diags := attr.Expr.Value(nil)
		d.hcl(diags)
	}
	d.m.ProviderMeta[name] = &ProviderMeta{Name: name, Body: b.Body, Range: b.DefRange}
}

// backend decodes the block of the root module that says where states are, of which there is at most one. One
// in an override file replaces it as a whole, even if the type differs: arguments of another type would be
// meaningless.
func (d *settingsDecoder) backend(b *hcl.Block, override bool) {
	if !d.m.Path.IsRoot() {
		d.warnAt(b.DefRange, "Backend configuration ignored",
			"Only the root module decides where the state is kept. The %s block in %s has no effect; remove it unless this module is also used on its own.", b.Type, d.m.Path)
		return
	}
	if first := d.state; first != nil && (!override || d.stateOver) {
		if first.Type != b.Type {
			names := []string{first.Type, b.Type}
			slices.Sort(names)
			d.errorAt(b.DefRange, fmt.Sprintf("Both a %s and a %s configuration are present", names[0], names[1]),
				"A module may declare either one %q block or one %q block. The other one is at %s.", names[1], names[0], diag.Place(first.DefRange))
		} else {
			d.errorAt(b.DefRange, fmt.Sprintf("Duplicate %s configuration", b.Type),
				"A module may have only one %s configuration. It was previously configured at %s.", b.Type, diag.Place(first.DefRange))
		}
		return
	}
	d.state, d.stateOver = b, override
	d.m.Backend = &Backend{Type: b.Type, Body: b.Body, Range: b.DefRange}
	switch b.Type {
	case "cloud":
		d.m.Backend.Cloud = true
	case "state_store":
		d.stateStore(b)
	default:
		d.m.Backend.Type = b.Labels[0]
	}
}

// requiredProviders decodes a required_providers block. One in an override file replaces single entries.
func (d *settingsDecoder) requiredProviders(b *hcl.Block, override bool) {
	if first := d.required; first != nil && (!override || d.requiredOverride) {
		d.errorAt(b.DefRange, "Duplicate required providers configuration",
			"There is already a required_providers block at %s. Move these entries there.", diag.Place(first.DefRange))
		return
	}
	d.required, d.requiredOverride = b, override
	attrs, diags := b.Body.JustAttributes()
	d.hcl(diags)
	for _, attr := range inOrder(attrs) {
		if rp := d.requiredProvider(attr); rp != nil {
			d.m.Required[rp.Name] = rp
		}
	}
}

// requiredProvider decodes an entry: an object, or in the oldest form a string with a version constraint.
// The object is taken apart as an expression, because configuration_aliases contains names, not values.
func (d *settingsDecoder) requiredProvider(attr *hcl.Attribute) *RequiredProvider {
	if !d.providerName(attr.Name, attr.NameRange, "") {
		return nil
	}
	rp := &RequiredProvider{Name: attr.Name, Source: defaultProvider(attr.Name), Range: attr.Range}
	pairs, mapDiags := hcl.ExprMap(attr.Expr)
	if mapDiags.HasErrors() {
		if v, diags := attr.Expr.Value(nil); !diags.HasErrors() && v.Type() == cty.String {
			rp.Version = d.constraint(attr)
			return rp
		}
		d.errorAt(attr.Expr.Range(), "Invalid required_providers object",
			"Write an object with the elements \"source\" and \"version\", as in { source = \"hashicorp/%s\", version = \"~> 1.0\" }.", attr.Name)
		return nil
	}
	for _, p := range pairs {
		d.requiredProviderItem(rp, p)
	}
	return rp
}

// requiredProviderItem decodes one element of the object of an entry.
func (d *settingsDecoder) requiredProviderItem(rp *RequiredProvider, p hcl.KeyValuePair) {
	name := hcl.ExprAsKeyword(p.Key)
	if name == "" {
		if v, diags := p.Key.Value(nil); !diags.HasErrors() && v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			name = v.AsString()
		}
	}
	item := &hcl.Attribute{Name: name, Expr: p.Value, Range: p.Value.Range(), NameRange: p.Key.Range()}
	switch name {
	case "version":
		rp.Version = d.constraint(item)
	case "source":
		v := d.static(item, cty.String)
		if v == cty.NilVal {
			return
		}
		if raw, _ := p.Value.Value(nil); raw.Type() != cty.String {
			d.errorAt(p.Value.Range(), "Invalid provider source string", "The source of a provider is text in quotes, such as \"hashicorp/random\".")
			return
		}
		source, err := addr.ParseProvider(v.AsString())
		if err != nil {
			d.errorAt(p.Value.Range(), "Invalid provider source string",
				"%q is not a provider source address. It must have the form \"[hostname/][namespace/]name\", in letters, digits and dashes.", v.AsString())
			return
		}
		rp.Source = source
	case "configuration_aliases":
		rp.Aliases = d.configurationAliases(rp.Name, p.Value)
	default:
		d.errorAt(p.Key.Range(), "Invalid required_providers object",
			"Only \"source\", \"version\" and \"configuration_aliases\" can be given here. Settings of the provider itself belong in a \"provider\" block.%s",
			diag.DidYouMean(name, []string{"version", "source", "configuration_aliases"}))
	}
}

// configurationAliases decodes the configurations that a module expects from its caller.
func (d *settingsDecoder) configurationAliases(name string, expr hcl.Expression) []ProviderRef {
	exprs, diags := hcl.ExprList(expr)
	if !d.hcl(diags) {
		return nil
	}
	var out []ProviderRef
	seen := map[string]bool{}
	for _, e := range exprs {
		if s, quoted := quotedText(e); quoted && !hcljson.IsJSONExpression(e) {
			d.errorAt(e.Range(), "Invalid configuration_aliases value", "Configuration aliases can only contain references to local provider configuration names, without quotes: write %s.", s)
			continue
		}
		ref := d.providerRef(e)
		switch {
		case ref == nil:
		case ref.Name != name || ref.KeyExpr != nil:
			d.errorAt(e.Range(), "Invalid configuration_aliases value", "Configuration aliases of this provider must have the form \"%s.ALIAS\", or \"%s\" for its default configuration.", name, name)
		case seen[ref.Alias]:
			d.errorAt(e.Range(), "Invalid configuration_aliases value", "The alias %q is already in the list.", ref.String())
		default:
			seen[ref.Alias] = true
			out = append(out, *ref)
		}
	}
	return out
}

var providerSchema = schema("alias version for_each count depends_on source", "lifecycle", "locals")

// provider decodes a provider block. Other arguments than meta-arguments remain in Body until the provider's
// schema is at hand. Meta-arguments that other engines reserve are errors here too, so that no provider
// argument comes to depend on their absence.
func (d *decoder) provider(block *hcl.Block) {
	p := &Provider{Name: block.Labels[0], Range: block.DefRange}
	if !d.providerName(p.Name, block.LabelRanges[0], "") {
		return
	}
	content, rest := d.partial(block.Body, providerSchema)
	p.Body = rest
	if attr := content.Attributes["alias"]; attr != nil {
		if v := d.static(attr, cty.String); v != cty.NilVal && d.identifier(v.AsString(), attr.Expr.Range(), "provider configuration alias") {
			p.Alias = v.AsString()
		} else {
			return
		}
	}
	if attr := content.Attributes["version"]; attr != nil {
		d.warnAt(attr.Expr.Range(), "Version constraints inside provider configuration blocks are deprecated",
			"Move the version constraint into the required_providers block of the terraform block.")
		p.Version = d.constraint(attr)
	}
	if attr := content.Attributes["for_each"]; attr != nil {
		if p.Alias == "" {
			d.aliasRequired(attr)
		} else {
			p.ForEach = attr.Expr
		}
	}
	for _, name := range []string{"count", "depends_on", "source"} {
		if attr := content.Attributes[name]; attr != nil {
			d.errorAt(attr.NameRange, "Reserved argument name in provider block", "The provider argument name %q is reserved for use in a future version.", name)
		}
	}
	for _, b := range content.Blocks {
		if b.Type != "_" {
			d.errorAt(b.TypeRange, "Reserved block type name in provider block", "The block type name %q is reserved for use in a future version.", b.Type)
		}
	}
	d.m.Providers[p.Ref().String()] = p
}

// aliasRequired reports a for_each of a default provider configuration.
func (d *reader) aliasRequired(attr *hcl.Attribute) {
	d.errorAt(attr.NameRange, `Alias required when using "for_each"`, "The default configuration of a provider has exactly one instance. Add an \"alias\" to have several.")
}
