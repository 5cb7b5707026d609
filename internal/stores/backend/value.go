package backend

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Object returns the configuration that consists of some values, which have the types of their arguments.
func (k *Kind) Object(values map[string]cty.Value) cty.Value {
	attrs := map[string]cty.Value{}
	for name, null := range k.Block.Empty().AsValueMap() {
		attrs[name] = null
		if v, ok := values[name]; ok && (k.Provided != nil || !isEmptyText(v)) { // which may mean something to a provider
			attrs[name] = v
		}
	}
	return cty.ObjectVal(attrs)
}

func isEmptyText(v cty.Value) bool {
	v, _ = v.Unmark()
	return v.Type() == cty.String && v.IsKnown() && !v.IsNull() && v.AsString() == ""
}

// IsSecret reports whether an argument of cfg must not be written to a file in clear: because it is or
// contains a credential, also as part of an address, or because its value comes from something sensitive or
// ephemeral. It is false for an argument without a value.
func (k *Kind) IsSecret(cfg cty.Value, name string) bool {
	if k.Provided != nil {
		return k.Provided.isSecret(cfg, name) || len(credentialsIn(cfg.GetAttr(name))) > 0
	}
	return k.isWhollySecret(cfg, name) || len(credentialsIn(cfg.GetAttr(name))) > 0
}

// isWhollySecret is IsSecret without the credentials in addresses, which can be taken out of them.
func (k *Kind) isWhollySecret(cfg cty.Value, name string) bool {
	v := cfg.GetAttr(name)
	if value.Contains(v, value.Sensitive) || value.Contains(v, value.Ephemeral) {
		return true
	}
	cfg, _ = cfg.UnmarkDeep()
	for _, path := range k.Block.SensitivePaths(cfg) {
		step, ok := path[0].(cty.GetAttrStep)
		if !ok || step.Name != name {
			continue
		}
		if part, err := path.Apply(cfg); err != nil || !part.IsNull() {
			return true
		}
	}
	return false
}

// Shown returns the names of the arguments whose values may be shown: all but credentials.
func (k *Kind) Shown() []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(k.Block.Attributes)), func(name string) bool { return k.Block.Attributes[name].Sensitive })
}

// Secrets returns the names of the arguments of cfg that IsSecret is true for, in order.
func (k *Kind) Secrets(cfg cty.Value) []string {
	return slices.DeleteFunc(slices.Clone(k.Block.Names()), func(name string) bool { return !k.IsSecret(cfg, name) })
}

// Public returns cfg without marks and with only those parts of its arguments that are not secret, see
// PublicPart.
func (k *Kind) Public(cfg cty.Value) cty.Value {
	if k.Provided != nil {
		return k.Provided.public(cfg)
	}
	values := cfg.AsValueMap()
	for _, name := range k.Secrets(cfg) {
		values[name] = k.PublicPart(cfg, name)
	}
	public, _ := cty.ObjectVal(values).UnmarkDeep()
	return public
}

// PublicPart returns the part of an argument that may be written to a file in clear: all of it, addresses
// without the credentials in them, or nothing.
func (k *Kind) PublicPart(cfg cty.Value, name string) cty.Value {
	if k.Provided != nil {
		return k.Provided.public(cfg).GetAttr(name)
	}
	if k.isWhollySecret(cfg, name) {
		return k.Block.Empty().GetAttr(name)
	}
	return withoutCredentials(cfg.GetAttr(name))
}

// Credentials returns the texts in the arguments of cfg that are secret, as they may be in messages of
// servers and libraries.
func (k *Kind) Credentials(cfg cty.Value) []string {
	if k.Provided != nil {
		return k.Provided.credentials(cfg)
	}
	var out []string
	for _, name := range k.Secrets(cfg) {
		v, _ := cfg.GetAttr(name).UnmarkDeep()
		if k.isWhollySecret(cfg, name) {
			leak.Texts(v, func(text string) bool {
				out = append(out, text)
				return true
			})
		}
		out = append(out, credentialsIn(v)...)
	}
	return out
}

// Complete returns cfg with values from the environment for arguments that have none. It fails if an argument
// that is required has no value then. Errors have no values.
func (k *Kind) Complete(cfg cty.Value, lookup func(string) string) (cty.Value, error) {
	cfg, err := k.FromEnvironment(cfg, lookup)
	if err != nil {
		return cfg, err
	}
	for _, name := range k.Block.Names() {
		if a := k.Block.Attributes[name]; a != nil && a.Required && cfg.GetAttr(name).IsNull() {
			return cfg, fmt.Errorf("the argument %q of the %s is missing.%s", name, k, k.waysToSet(name))
		}
	}
	return cfg, nil
}

// FromEnvironment returns cfg with values from the environment for arguments that have none. Errors have no
// values.
func (k *Kind) FromEnvironment(cfg cty.Value, lookup func(string) string) (cty.Value, error) {
	if k.Provided != nil {
		return cfg, nil // with its marks, which tell the secret parts
	}
	cfg, _ = cfg.UnmarkDeep()
	values := cfg.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(k.env)) {
		if !values[name].IsNull() {
			continue
		}
		for _, variable := range k.env[name] {
			text := lookup(variable)
			if text == "" {
				continue
			}
			v, err := k.parse(name, text)
			if err != nil {
				return cfg, fmt.Errorf("the environment variable %s, which gives the argument %q of the backend %q, must be a %s", variable, name, k.Name, k.typeName(name))
			}
			values[name] = v
			break
		}
	}
	return cty.ObjectVal(values), nil
}

// waysToSet says how to give a value to an argument.
func (k *Kind) waysToSet(name string) string {
	variables := k.env[name]
	if len(variables) == 0 {
		return fmt.Sprintf(" Set it in the block, or with -backend-config=\"%s=...\"", name)
	}
	return fmt.Sprintf(" Set it in the block, with -backend-config=\"%s=...\", or in the environment variable %s", name, variables[0])
}

// OrVariables is a sentence about the environment variables that stand in for arguments; "" if there are
// none.
func (k *Kind) OrVariables(names []string) string {
	var variables []string
	for _, name := range names {
		if len(k.env[name]) > 0 {
			variables = append(variables, k.env[name][0])
		}
	}
	if len(variables) == 0 {
		return ""
	}
	return " They can also be given in the environment: " + strings.Join(variables, ", ") + "."
}

// Env returns the environment variables that stand in for an argument, in order of falling precedence.
func (k *Kind) Env(name string) []string { return slices.Clone(k.env[name]) }

// parse returns the value that a text stands for. The elements of a list are separated by colons or, on
// Windows, by semicolons, as in a list of paths.
func (k *Kind) parse(name, text string) (cty.Value, error) {
	ty := k.typeOf(name)
	if ty == cty.Bool { // as the environment variables of cloud vendors write it
		b, err := strconv.ParseBool(text)
		return cty.BoolVal(b), err
	}
	if ty.IsListType() {
		var elems []cty.Value
		for _, s := range strings.Split(text, listSeparator) {
			elems = append(elems, cty.StringVal(s))
		}
		return cty.ListVal(elems), nil
	}
	return convert.Convert(cty.StringVal(text), ty)
}

func (k *Kind) typeOf(name string) cty.Type { return k.Block.Type().AttributeType(name) }

func (k *Kind) typeName(name string) string { return k.typeOf(name).FriendlyName() }
