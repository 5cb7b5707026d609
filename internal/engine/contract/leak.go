package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Leaks has the values to look for in a provider's answers, which are stored, and the policy for them.
type Leaks struct {
	Guard  *leak.Guard // nil for none
	Policy leak.Policy
	Use    int64 // of the provider configurations; see leak.Source
}

// configuration is the source of the ephemeral values in a provider configuration.
func (l Leaks) configuration(a addr.ProviderConfig) leak.Source {
	return leak.Source{Kind: leak.Configuration, Address: a.String(), Use: l.Use}
}

// Result judges the result of a function of a configured provider, which no object belongs to: whether it
// contains an ephemeral value of the configuration, and whether it may be kept, with a warning.
func (l Leaks) Result(v cty.Value, configured addr.ProviderConfig) (keep, found bool) {
	c := Checker{Configured: configured, Leaks: l, Object: addr.Object{Instance: addr.Instance{Resource: addr.Resource{Mode: addr.Data}}}}
	keep = true
	if !l.Guard.Holds(v) {
		return keep, false
	}
	leak.Texts(v, func(text string) bool {
		verdict, has := c.judge(text, Read)
		keep, found = verdict.keep(), found || has
		return keep
	})
	return keep, found
}

// public has the texts that are public for a checker's object, and the findings about them.
type public struct {
	texts []func(yield func(string) bool) // that may come back
	found map[any]struct{}                // the values that stand in texts; nil until they were searched
	kept  map[any]bool                    // the values that were stored with a warning; false if it was in an answer of this kind
	kind  Answer                          // of the answer that was judged last
	use   int64                           // of the object's own values; 0 until there may be some
}

// Publish says which texts are public for the object, so that they may come back in its answers: its texts in
// the state, or the id or identity that it is imported by. The function is called when they are needed, maybe
// more than once.
func (c *Checker) Publish(texts func(yield func(string) bool)) {
	if c.Leaks.Guard != nil {
		c.public.texts, c.public.found = append(c.public.texts, texts), nil
	}
}

// PublishValue is Publish for all texts in a value without marks.
func (c *Checker) PublishValue(v cty.Value) {
	c.Publish(func(yield func(string) bool) { leak.Texts(v, yield) })
}

// Given returns the configuration that a provider is given for the object without its marks, and notes it
// first: from now on, write-only and withheld values must not come back in answers, except in the withheld
// attributes themselves; all else may.
func (c *Checker) Given(config cty.Value) cty.Value {
	guard, own := c.Leaks.Guard, c.own()
	plain := guard.Reveal(own, config, c.Block.Type()) // nothing else can be ephemeral
	if guard == nil || plain == cty.NilVal || plain.IsNull() {
		return plain
	}
	hidden := c.Withheld.Find(plain)
	for _, path := range append(c.Block.WriteOnlyPaths(plain), hidden...) {
		if v, ty, ok := at(config, c.Block.Type(), path); ok {
			guard.RememberOwn(own, v, ty)
		}
	}
	c.Publish(func(yield func(string) bool) { leak.Texts(c.Block.NullAt(c.Block.NullWriteOnly(plain), hidden), yield) })
	return plain
}

// rememberWithheld notes the withheld values of an answer. They may differ from the values of the
// configuration: they may be earlier ones, or set outside. Those that are one value count as sensitive.
func (c *Checker) rememberWithheld(v cty.Value) {
	if c.Leaks.Guard == nil || v == cty.NilVal || v.IsNull() {
		return
	}
	for _, path := range c.Withheld.Find(v) {
		part, ty, ok := at(v, c.Block.Type(), path)
		if ok && part.Type().IsPrimitiveType() {
			part = part.Mark(value.Sensitive)
		}
		if ok {
			c.Leaks.Guard.RememberOwn(c.own(), part, ty)
			c.Leaks.Guard.RememberNotations(c.own(), part, ty)
		}
	}
}

// at returns the value and the declared type at a path in a value that may have marks, which the result has
// from all that it is in.
func at(v cty.Value, ty cty.Type, path cty.Path) (cty.Value, cty.Type, bool) {
	marks := cty.ValueMarks{}
	for _, step := range path {
		bare, more := v.Unmark()
		for m := range more {
			marks[m] = struct{}{}
		}
		next, err := step.Apply(bare)
		if err != nil {
			return cty.NilVal, ty, false
		}
		v, ty = next, schema.StepType(ty, step)
	}
	return v.WithMarks(marks), ty, true
}

// own is the source of the object's own write-only values, as given to this checker and not to another
// operation.
func (c *Checker) own() leak.Source {
	if c.public.use == 0 {
		c.public.use = c.Leaks.Guard.NewUse()
	}
	return leak.Source{Kind: leak.WriteOnly, Address: c.Object.String(), Use: c.public.use}
}

// isPublic reports whether a value is public for the object.
func (c *Checker) isPublic(m leak.Match) bool {
	if c.public.kept[m.Value()] {
		return true
	}
	if c.public.found == nil {
		c.public.found = map[any]struct{}{}
		for _, texts := range c.public.texts {
			texts(func(text string) bool {
				for m := range c.Leaks.Guard.Matches(text) {
					c.public.found[m.Value()] = struct{}{}
				}
				return true
			})
		}
	}
	_, ok := c.public.found[m.Value()]
	return ok
}

// verdict is the outcome for a text in which a value was found, and the source of the value.
type verdict struct {
	outcome outcome
	own     bool // a write-only value of the object itself
	from    string
}

// outcome is the treatment of a text. A later one is stricter.
type outcome uint8

const (
	outcomeStored  outcome = iota // with a warning
	outcomeDropped                // left out, with a warning
	outcomeRefused                // left out, with an error
)

// keep reports whether the text is stored.
func (v verdict) keep() bool { return v.outcome == outcomeStored }

// judge decides about a text in an answer, by the value in it that must be hidden most. It returns false if
// the text contains none, or only values that were warned about already.
func (c *Checker) judge(text string, a Answer) (worst verdict, found bool) {
	c.begin(a)
	fresh := false
	var values []any
	for m := range c.Leaks.Guard.Matches(text) {
		v, ok := c.weigh(m, text)
		if !ok {
			continue
		}
		_, known := c.public.kept[m.Value()]
		values, fresh = append(values, m.Value()), fresh || !known
		if !found || v.outcome > worst.outcome || v.outcome == worst.outcome && v.own {
			worst, found = v, true
		}
	}
	if !worst.keep() {
		return worst, found
	}
	for _, v := range values {
		if _, ok := c.public.kept[v]; !ok {
			c.public.kept[v] = false // later answers may have the value
		}
	}
	return worst, fresh
}

// begin begins to judge an answer. Values stored with a warning may come back in answers of another kind. In
// answers of the same kind they are judged as before, so that the order of attributes makes no difference.
func (c *Checker) begin(a Answer) {
	if c.public.kept == nil {
		c.public.kept = map[any]bool{}
	}
	if c.public.kind == a {
		return
	}
	c.public.kind = a
	for v := range c.public.kept {
		c.public.kept[v] = true
	}
}

// weigh decides about a value that was found in a text, by its relation to this object. It returns false if
// the value may come back.
func (c *Checker) weigh(m leak.Match, text string) (v verdict, ok bool) {
	marked, own := m.From(c.own())
	_, configured := m.From(c.Leaks.configuration(c.Configured))
	source, confidential, ofRun := m.OfRun()
	if c.Object.Resource.Mode != addr.Managed { // it is asked for values from elsewhere
		own, ofRun = false, false
	}
	if !own && !configured && !ofRun || c.isPublic(m) || !own && m.Published() {
		return verdict{}, false
	}
	keep := false
	switch {
	case own:
		v = verdict{own: true, from: "the value of a write-only argument"}
		if len(c.Withheld) > 0 {
			v.from = "the value of an ephemeral attribute"
		}
		keep = !marked && !isWhole(m, text)
	case configured:
		v.from, keep = "an ephemeral value that it was configured with", true
	default:
		v.from, keep = source.String(), !confidential
	}
	switch policy := c.Leaks.Policy; {
	case policy == leak.Lenient || policy == leak.Standard && keep:
		v.outcome = outcomeStored
	case own && policy == leak.Standard && c.public.kind.isRead():
		v.outcome = outcomeDropped // nothing has happened that the user has to see to
	default:
		v.outcome = outcomeRefused
	}
	return v, true
}

// isWhole reports whether a match is all of a text, or a whole string in a JSON document.
func isWhole(m leak.Match, text string) bool {
	before, after := text[:m.Start], text[m.End:]
	return before == "" && after == "" || strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`)
}

// place is where in an answer a value was found.
type place struct {
	of    Answer // the object, or data that came with it
	where string // in words
	path  cty.Path
	id    bool // of an object that exists: it could not be managed without it
}

// wayOut returns a paragraph with the line that keeps the attribute at a place out of the state, "" if there
// is no such line.
func (c *Checker) wayOut(at place) string {
	if c.Object.Resource.Mode != addr.Managed || at.id {
		return ""
	}
	for path := at.path; len(path) > 0; path = path[:len(path)-1] {
		if _, named := path[len(path)-1].(cty.GetAttrStep); !named || c.Block.AttributeAt(path) == nil {
			continue // it leads into the value of an attribute
		}
		if _, err := c.Block.Pattern(path); err == nil {
			return "\n\nTo keep that attribute out of the state, name it in the lifecycle block: ephemeral_attributes = [" + schema.EveryElementOf(path) + "]"
		}
	}
	return ""
}

// describe returns the diagnostic about a verdict.
func (c *Checker) describe(v verdict, at place) diag.Diagnostic {
	d := c.judged(v, at)
	d.Detail += c.wayOut(at)
	return d
}

// judged is describe without a way out.
func (c *Checker) judged(v verdict, at place) diag.Diagnostic {
	name, where := c.Provider.ForDisplay(), fmt.Sprintf("%s of the %s of %s", at.where, at.of, c.Object)
	if v.keep() {
		return diag.Diagnostic{
			Severity: diag.Warning, Summary: "Ephemeral value is stored", Path: at.path,
			Detail: fmt.Sprintf("The provider %s returned %s in %s, so that it is stored in the state.\n\nIf it is secret, have it left out with the option -leak-guard=strict, and report this to the maintainers of the provider.",
				name, v.from, where),
		}
	}
	outcome := "where it would be stored. It was left out; the rest of the object is kept."
	if at.id {
		outcome = "without which the object could not be managed: it is stored, and the secret with it."
	}
	if !v.own {
		return diag.Diagnostic{
			Summary: "Provider returned an ephemeral value", Path: at.path,
			Detail: fmt.Sprintf("The provider %s returned %s in %s, %s\n\nIf it may be stored, run the command with the option -leak-guard=warn.", name, v.from, where, outcome),
		}
	}
	d := diag.Diagnostic{
		Summary: "Provider copied a write-only value", Path: at.path,
		Detail: fmt.Sprintf("The provider %s returned %s in %s, %s\n\nThis is a bug in the provider. If the value may be stored, run the command with the option -leak-guard=warn.", name, v.from, where, outcome),
	}
	if len(c.Withheld) > 0 {
		way := "If the value may be stored there, run the command with the option -leak-guard=warn."
		if at.id {
			way = "So the attribute cannot be kept out of the state. Remove it from ephemeral_attributes, or use a type of resource whose id does not have the value."
		}
		d.Summary = "Provider returned the value of an ephemeral attribute"
		d.Detail = fmt.Sprintf("The provider %s returned %s in %s, %s\n\n%s", name, v.from, where, outcome, way)
	}
	if v.outcome == outcomeDropped {
		d.Severity = diag.Warning
	}
	return d
}

// AcceptPrivate checks the private data of an answer, which is stored too. If it must not be, AcceptPrivate
// returns the data from before the call.
func (c *Checker) AcceptPrivate(private, before []byte, a Answer) ([]byte, diag.List) {
	if c.Later {
		return private, nil
	}
	v, found := c.judge(string(private), a)
	if !found {
		return private, nil
	}
	diags := diag.List{c.describe(v, place{of: a, where: "the provider's own data"})}
	if !v.keep() {
		return before, diags
	}
	return private, diags
}

// AcceptPaths returns paths of an answer, each up to the first key that must not be stored.
func (c *Checker) AcceptPaths(paths []cty.Path) []cty.Path {
	if !c.Leaks.Guard.Knows() {
		return paths
	}
	out := slices.Clone(paths)
	for i, path := range paths {
		at := slices.IndexFunc(path, func(step cty.PathStep) bool {
			index, ok := step.(cty.IndexStep)
			if !ok || index.Key.Type() != cty.String || !index.Key.IsKnown() || index.Key.IsNull() {
				return false
			}
			v, found := c.judge(index.Key.AsString(), Plan)
			return found && !v.keep()
		})
		if at >= 0 {
			out[i] = path[:at]
		}
	}
	return out
}

// Answered is the result of the answers about an object that was upgraded, read or imported.
type Answered struct {
	Value, Identity cty.Value // the identity is cty.NilVal if there is none
	Private         []byte
}

// Review judges the object read while Later was set, now that the configuration was given; answers that
// follow are judged at once. The result lacks values that must not be stored, and has the private data from
// before the call if the answer's must not be stored.
func (c *Checker) Review(got Answered, private []byte) (Answered, diag.List) {
	c.Later = false
	var diags, more diag.List
	got.Value, diags = c.withhold(got.Value, c.Block.Type(), Read)
	if got.Identity != cty.NilVal {
		got.Identity, more = c.AcceptIdentity(got.Identity, Read)
		diags = append(diags, more...)
	}
	got.Private, more = c.AcceptPrivate(got.Private, private, Read)
	return got, append(diags, more...)
}
