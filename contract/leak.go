package contract

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/leak"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// Leaks says what is looked for in a provider's answers, which are stored.
type Leaks struct {
	Guard  *leak.Guard // nil for none
	Policy leak.Policy
	open   map[string]struct{} // the texts that the object is configured with in the open
}

// CheckSealed returns an error if what is about to be stored holds a confidential value. What providers
// return was looked at before, so that would be a fault of the engine.
func (l Leaks) CheckSealed(d value.Durable) error {
	m, found := l.Guard.FindBytes(d.Packed())
	if !found || !m.Confidential {
		return nil
	}
	return fmt.Errorf("it holds a value of %s, which is ephemeral; this is a bug in Mayfly", sortedSources(m)[0].Address)
}

// Given notes the configuration that a provider was given for the object, which has no marks. Its write-only
// arguments must not come back. A text that other arguments have too may.
func (c *Checker) Given(config cty.Value) {
	if c.Leaks.Guard == nil || config == cty.NilVal || config.IsNull() {
		return
	}
	paths := c.Block.WriteOnlyPaths(config)
	if len(paths) == 0 {
		return
	}
	for _, p := range paths {
		if v, err := p.Apply(config); err == nil {
			c.Leaks.Guard.Remember(c.source(), v)
		}
	}
	c.Leaks.open = map[string]struct{}{}
	_ = cty.Walk(c.Block.NullWriteOnly(config), func(_ cty.Path, v cty.Value) (bool, error) { // the function never fails
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			c.Leaks.open[v.AsString()] = struct{}{}
		}
		return true, nil
	})
}

// source is the source of the object's own write-only values.
func (c *Checker) source() leak.Source {
	return leak.Source{Kind: leak.WriteOnly, Address: c.Object.String()}
}

// withhold takes out of v what must not be stored, and reports it with what may.
func (c *Checker) withhold(v cty.Value, a Answer) (cty.Value, diag.List) {
	if !c.Leaks.Guard.Holds(v) {
		return v, nil
	}
	whole := v.Type()
	var diags diag.List
	judge := func(text string, path cty.Path, key bool) (keep bool) {
		m, found := c.Leaks.Guard.FindOf(c.source(), text)
		if !found {
			return true
		}
		if _, ok := c.Leaks.open[text]; ok {
			m.Permit()
			return true
		}
		where := "the attribute " + schema.PathIn(whole, path)
		if key {
			where = "a key or the name of an attribute in " + schema.PathIn(whole, path)
		}
		d, keep := c.judge(m, where, a)
		d.Path = path.Copy()
		diags = append(diags, d)
		return keep
	}
	out, err := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() || v.IsNull() {
			return v, nil
		}
		switch ty := v.Type(); {
		case ty == cty.String:
			if !judge(v.AsString(), path, false) {
				return cty.NullVal(ty), nil
			}
		case ty == cty.Number:
			if !judge(leak.Number(v), path, false) {
				return cty.NullVal(ty), nil
			}
		case ty.IsMapType() || ty.IsObjectType():
			return withoutKeys(v, func(key string) bool { return judge(key, path, true) }), nil
		}
		return v, nil
	})
	if err != nil {
		return cty.NilVal, append(diags, c.Violations(a, errors.New("it cannot be searched for ephemeral values"))...)
	}
	return out, diags
}

// withoutKeys returns a map or object with the elements whose keys keep accepts. If all are, that is v
// itself, since the type of an object would change otherwise.
func withoutKeys(v cty.Value, keep func(string) bool) cty.Value {
	elems := map[string]cty.Value{}
	n := 0
	for it := v.ElementIterator(); it.Next(); n++ {
		k, e := it.Element()
		if keep(k.AsString()) {
			elems[k.AsString()] = e
		}
	}
	switch {
	case len(elems) == n:
		return v
	case v.Type().IsObjectType():
		return cty.ObjectVal(elems)
	case len(elems) == 0:
		return cty.MapValEmpty(v.Type().ElementType())
	default:
		return cty.MapVal(elems)
	}
}

// judge decides what becomes of a value that was found in an answer and describes it: an error if it is left
// out, else a warning. What is kept counts as being in the open from now on.
func (c *Checker) judge(m leak.Match, where string, a Answer) (d diag.Diagnostic, keep bool) {
	own := m.From(c.source())
	configured := m.From(leak.Source{Kind: leak.Configuration, Address: c.Provider.String()})
	switch c.Leaks.Policy {
	case leak.Strict:
	case leak.Lenient:
		keep = true
	default:
		keep = !own && (configured || !m.Confidential)
	}
	from := c.origin(m, own, configured)
	if keep {
		m.Permit()
		return diag.Diagnostic{
			Severity: diag.Warning, Summary: "Ephemeral value is stored",
			Detail: fmt.Sprintf("The provider %s returned %s in %s of the %s of %s, so that it is stored in the state.\n\nIf it is secret, have it left out with the option -leak-guard=strict, and report this to the maintainers of the provider.",
				c.Provider.ForDisplay(), from, where, a, c.Object),
		}, true
	}
	if own {
		return diag.Diagnostic{
			Summary: "Provider copied a write-only value",
			Detail: fmt.Sprintf("The provider %s returned the value of a write-only argument in %s of the %s of %s, where it would be stored. It was left out; the rest of the object is kept.\n\nThis is a bug in the provider.",
				c.Provider.ForDisplay(), where, a, c.Object),
		}, false
	}
	return diag.Diagnostic{
		Summary: "Provider returned an ephemeral value",
		Detail: fmt.Sprintf("The provider %s returned %s in %s of the %s of %s, where it would be stored. It was left out; the rest of the object is kept.\n\nIf it may be stored, run the command with the option -leak-guard=warn.",
			c.Provider.ForDisplay(), from, where, a, c.Object),
	}, false
}

// origin describes where a value that was found comes from, by the source that says most.
func (c *Checker) origin(m leak.Match, own, configured bool) string {
	switch {
	case own:
		return "the value of a write-only argument"
	case configured:
		return "an ephemeral value that it was configured with"
	}
	switch s := sortedSources(m)[0]; s.Kind {
	case leak.WriteOnly:
		return "the value of a write-only argument of " + s.Address
	case leak.Configuration:
		return "an ephemeral value that the provider " + s.Address + " was configured with"
	case leak.Other:
		return "an ephemeral value that " + s.Address + " uses"
	default:
		return "an ephemeral value of " + s.Address
	}
}

// sortedSources returns the sources of a value, those that say most first.
func sortedSources(m leak.Match) []leak.Source {
	return slices.SortedFunc(slices.Values(m.Sources()), func(x, y leak.Source) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Address, y.Address))
	})
}

// AcceptPrivate checks the private data of an answer, which is stored too. It returns nil if it must not be.
func (c *Checker) AcceptPrivate(private []byte, a Answer) ([]byte, diag.List) {
	m, found := c.Leaks.Guard.FindOf(c.source(), string(private))
	if !found {
		return private, nil
	}
	d, keep := c.judge(m, "the provider's own data", a)
	if !keep {
		return nil, diag.List{d}
	}
	return private, diag.List{d}
}
