package contract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/schema"
)

// minSecret is the length in bytes from which a write-only value is looked for in what a provider answers.
// Shorter ones are in other texts by chance.
const minSecret = 8

// DropCopiedSecrets nulls the parts of an answer in which the provider has copied values of the resource's
// own write-only arguments, because the object is stored. Each is an error that names the attribute. A text
// that other arguments of the configuration contain too does not count as a copy. The values have no marks.
func (c Checker) DropCopiedSecrets(config, v cty.Value, diags diag.List, a Answer) (cty.Value, diag.List) {
	if v == cty.NilVal || v.IsNull() || config.IsNull() {
		return v, diags
	}
	var secrets []string
	for _, path := range c.Block.WriteOnlyPaths(config) {
		if secret, err := path.Apply(config); err == nil {
			eachText(secret, func(text string) {
				if len(text) >= minSecret {
					secrets = append(secrets, text)
				}
			})
		}
	}
	if len(secrets) == 0 {
		return v, diags
	}
	open := map[string]struct{}{}
	eachText(c.Block.NullWriteOnly(config), func(text string) { open[text] = struct{}{} })
	whole := v.Type()
	out, err := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if v.Type() != cty.String || v.IsNull() || !v.IsKnown() || !containsOne(v.AsString(), secrets, open) {
			return v, nil
		}
		diags = append(diags, diag.Diagnostic{
			Summary: "Provider copied a write-only value",
			Detail: fmt.Sprintf("The provider %s returned the value of a write-only argument in the attribute %s of the %s of %s, where it would be stored. The attribute was left out; the rest of the object is kept.\n\nThis is a bug in the provider.",
				c.Provider.ForDisplay(), schema.PathIn(whole, path), a, c.Object),
			Path: path.Copy(),
		})
		return cty.NullVal(cty.String), nil
	})
	if err != nil {
		return cty.NilVal, append(diags, c.Violations(a, errors.New("it cannot be searched for write-only values"))...)
	}
	return out, diags
}

// containsOne reports whether text contains one of the secrets and is not among the open texts.
func containsOne(text string, secrets []string, open map[string]struct{}) bool {
	if _, ok := open[text]; ok {
		return false
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return true
		}
	}
	return false
}

// eachText calls f for every known string in v, which has no marks.
func eachText(v cty.Value, f func(string)) {
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) { // the function never fails
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			f(v.AsString())
		}
		return true, nil
	})
}
