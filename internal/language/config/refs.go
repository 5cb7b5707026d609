package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	registry "github.com/opentofu/registry-address/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// dependsOn decodes a depends_on argument: a list of references to whole objects. Entries with mistakes are
// reported and left out.
func (d *reader) dependsOn(content *hcl.BodyContent) []hcl.Traversal {
	attr := content.Attributes["depends_on"]
	if attr == nil {
		return nil
	}
	exprs, ok := d.addresses(attr)
	if !ok {
		return nil
	}
	var out []hcl.Traversal
	for _, expr := range exprs {
		if t := d.traversal(expr); t != nil && d.wholeObject(t) {
			out = append(out, t)
		}
	}
	return out
}

// addresses returns the items of an argument that is a list of addresses.
func (d *reader) addresses(attr *hcl.Attribute) ([]hcl.Expression, bool) {
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.errorAt(attr.Expr.Range(), "Invalid expression", "The argument %q takes a list of addresses in brackets, such as [TYPE.NAME]. No condition or variable can decide what is in it.", attr.Name)
	}
	return exprs, !diags.HasErrors()
}

// wholeObject checks that t names an object, possibly one instance of it, and not something in it. An output
// value is an object of its own.
func (d *reader) wholeObject(t hcl.Traversal) bool {
	ref, diags := lang.ParseRef(t)
	switch {
	case notAnObject[ref.Kind]:
		d.semanticAt(ref.Range, "Invalid depends_on reference",
			"Nothing can depend on %q. Refer to resources, module calls, variables or local values.", ref.Root)
	case diags.HasErrors():
		d.semanticAt(ref.Range, "Invalid reference", "A reference in depends_on must be followed by the name of the object, as in \"TYPE.NAME\" or \"module.NAME\".")
	case ref.Kind == lang.Path || ref.Kind == lang.Terraform: // allowed, although there is nothing to wait for
		return false
	case len(ref.Rest) > 0:
		d.semanticAt(ref.Rest.SourceRange(), "Invalid depends_on reference",
			"Dependencies are on whole objects. Leave out what follows the object's name.")
	default:
		return true
	}
	return false
}

// notAnObject has the kinds of references that name nothing to depend on.
var notAnObject = map[lang.Kind]bool{lang.Each: true, lang.Count: true, lang.Self: true}

// providerRef interprets expr as "name", "name.alias" or "name.alias[key]". The key may be any expression.
//
//	provider = aws
//	provider = aws.west
//	provider = aws.by_region[each.key]
func (d *reader) providerRef(expr hcl.Expression) *ProviderRef {
	inner := d.unquote(expr)
	if inner == nil {
		return nil
	}
	ref := &ProviderRef{Range: expr.Range()}
	if idx, ok := hcl.UnwrapExpression(inner).(*hclsyntax.IndexExpr); ok {
		ref.KeyExpr, inner = idx.Key, idx.Collection
	}
	t, diags := hcl.AbsTraversalForExpr(inner)
	if diags.HasErrors() {
		d.badProviderRef(expr)
		return nil
	}
	if idx, ok := t[len(t)-1].(hcl.TraverseIndex); ok && len(t) > 1 && ref.KeyExpr == nil {
		ref.KeyExpr, t = hcl.StaticExpr(idx.Key, idx.SrcRange), t[:len(t)-1]
	}
	ref.Name = t.RootName()
	if !d.providerName(ref.Name, ref.Range, aliasHint(ref.Name)) {
		return nil
	}
	switch len(t) {
	case 1:
		if ref.KeyExpr == nil {
			return ref
		}
		d.errorAt(ref.Range, "Invalid provider configuration reference",
			"An instance key can be given only together with an alias, as in \"%s.ALIAS[...]\": the default configuration of a provider has a single instance.", ref.Name)
		return nil
	case 2:
		if a, ok := t[1].(hcl.TraverseAttr); ok {
			ref.Alias = a.Name
			return ref
		}
	}
	d.badProviderRef(expr)
	return nil
}

// badProviderRef reports an expression that has none of the forms of a reference to a provider
// configuration.
func (d *reader) badProviderRef(expr hcl.Expression) {
	d.errorAt(expr.Range(), "Invalid provider configuration reference",
		"Write NAME for the default configuration of a provider, NAME.ALIAS for another one, or NAME.ALIAS[KEY] for an instance of one that has for_each.")
}

// providerName checks the local name of a provider. hint is advice to add if the name is invalid.
func (d *reader) providerName(name string, rng hcl.Range, hint string) bool {
	norm, err := registry.ParseProviderPart(name)
	switch {
	case err != nil:
		d.errorAt(rng, "Invalid provider local name", "%q is an invalid provider local name: %s.%s", name, err, hint)
	case norm != name:
		d.errorAt(rng, "Invalid provider local name", "Provider names must be normalized. Replace %q with %q to fix this error.", name, norm)
	}
	return err == nil && norm == name
}

// aliasHint says how to refer to a configuration if the underscore in name is meant to separate an alias.
func aliasHint(name string) string {
	provider, alias, found := strings.Cut(name, "_")
	if !found || provider == "" || alias == "" {
		return ""
	}
	return fmt.Sprintf(" For the configuration of provider %q with the alias %q, write %s.%s.", provider, alias, provider, alias)
}

// ignoreChanges decodes an ignore_changes argument: the keyword all, or a list of paths relative to the
// resource. The paths are checked against the schema of the resource where that is known.
func (d *resourceDecoder) ignoreChanges(attr *hcl.Attribute) (paths []hcl.Traversal, all bool) {
	if hcl.ExprAsKeyword(attr.Expr) == "all" {
		return nil, true
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.errorAt(attr.Expr.Range(), "Invalid expression", "The argument \"ignore_changes\" takes a list of attributes, such as [tags], or the keyword all.")
		return nil, false
	}
	for _, expr := range exprs {
		if s, ok := quotedText(expr); ok && s == "*" {
			d.errorAt(expr.Range(), "Invalid ignore_changes wildcard",
				"The [\"*\"] form of ignore_changes wildcard is no longer valid. Write \"ignore_changes = all\" instead.")
			continue
		}
		inner := d.unquote(expr)
		if inner == nil {
			continue
		}
		t, diags := hcl.RelTraversalForExpr(inner)
		if d.hcl(diags) {
			paths = append(paths, t)
		}
	}
	return paths, false
}

// notManaged describes the targets of references that don't lead to a managed resource, by the kind of the
// reference and, for resources, by their mode.
var (
	notManaged = map[lang.Kind]string{
		lang.Variable: "an input variable", lang.Local: "a local value", lang.Module: "a module call", lang.Each: "a repetition value",
		lang.Count: "a repetition value", lang.Path: "a file system path", lang.Terraform: "a run-time value", lang.Self: "the resource itself",
	}
	notManagedMode = map[addr.Mode]string{addr.Data: "a data source", addr.Ephemeral: "an ephemeral resource", addr.List: "a list", addr.Action: "an action"}
)

// replaceTriggers decodes replace_triggered_by: references to managed resources, their instances or
// attributes. Keys in brackets may use count.index and each.key.
func (d *resourceDecoder) replaceTriggers(attr *hcl.Attribute) []Trigger {
	exprs, ok := d.addresses(attr)
	if !ok {
		return nil
	}
	var out []Trigger
	for _, expr := range exprs {
		inner := d.unquote(expr)
		if inner == nil {
			continue
		}
		if t, ok := d.replaceTrigger(inner); ok {
			out = append(out, t)
		}
	}
	return out
}

// replaceTrigger decodes a reference to a managed resource. It reports all other expressions as errors.
func (d *resourceDecoder) replaceTrigger(expr hcl.Expression) (Trigger, bool) {
	const summary = "Invalid replace_triggered_by expression"
	base, keys := flatten(expr)
	if len(base) < 2 {
		d.errorAt(expr.Range(), summary, "Missing resource reference in replace_triggered_by expression. Write for example \"aws_instance.web\" or \"aws_instance.web[count.index].id\".")
		return Trigger{}, false
	}
	ref, _ := lang.ParseRef(base)
	if what := cmp.Or(notManaged[ref.Kind], notManagedMode[ref.Resource.Mode]); what != "" {
		d.errorAt(expr.Range(), summary,
			"Only managed resources have changes that can trigger a replacement; %q is %s. To react to a plain value, keep it in a terraform_data resource and refer to that.",
			ref.Root, what)
		return Trigger{}, false
	}
	if !d.repetitionKeys(summary, keys) {
		return Trigger{}, false
	}
	t := Trigger{Expr: expr}
	for _, i := range slices.Sorted(maps.Keys(keys)) {
		t.Keys = append(t.Keys, keys[i])
	}
	return t, true
}

// repetitionKeys reports whether keys in brackets refer to nothing but each.key and count.index.
func (d *resourceDecoder) repetitionKeys(summary string, keys map[int]hcl.Expression) bool {
	for _, key := range keys {
		for _, t := range key.Variables() {
			if !isRepetitionKey(t) {
				d.errorAt(t.SourceRange(), summary, "Only \"count.index\" and \"each.key\" can be used in a key here.")
				return false
			}
		}
	}
	return true
}

// isRepetitionKey reports whether a reference is each.key or count.index.
func isRepetitionKey(t hcl.Traversal) bool {
	ref, _ := lang.ParseRef(t)
	return ref.Kind == lang.Count && ref.Name == "index" || ref.Kind == lang.Each && ref.Name == "key"
}

// flatten returns the steps of a reference whose index keys may be computed, and those keys by the index of
// their step. It returns nil for any other expression. A computed key is represented in the steps by a
// string, which is valid wherever a key is.
func flatten(expr hcl.Expression) (t hcl.Traversal, keys map[int]hcl.Expression) {
	var parts []hcl.Traversal
	var computed []hcl.Expression // of the parts; nil for a literal
	add := func(part hcl.Traversal, key hcl.Expression) {
		parts, computed = append(parts, part), append(computed, key)
	}
	for {
		switch e := expr.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			t, keys = slices.Clone(e.Traversal), map[int]hcl.Expression{}
			for i, part := range slices.Backward(parts) {
				if computed[i] != nil {
					keys[len(t)] = computed[i]
				}
				t = append(t, part...)
			}
			return t, keys
		case *hclsyntax.RelativeTraversalExpr:
			add(e.Traversal, nil)
			expr = e.Source
		case *hclsyntax.IndexExpr:
			add(hcl.Traversal{hcl.TraverseIndex{Key: cty.StringVal("key"), SrcRange: e.BracketRange}}, e.Key)
			expr = e.Collection
		default:
			return nil, nil
		}
	}
}
