package contract

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Answer is the kind of a provider's answer.
type Answer uint8

// The kinds of answers.
const (
	Plan      Answer = iota // made with the values known at the time
	FinalPlan               // made while applying, compared with the first one
	Object                  // after a change
	Result                  // Object, compared with the plan
	Read                    // an object that was read
	Imported
	Upgraded  // an object stored under an older schema
	Moved     // an object that was of another type
	Generated // configuration for an object
	Identity
)

// kinds has the name of each kind in messages, and the summaries of errors about it where they are not made
// of the name: tests of providers, and people, look for those texts.
var kinds = [...]struct{ name, invalid, leak string }{
	Plan:      {name: "plan"},
	FinalPlan: {name: "final plan", invalid: "Provider produced inconsistent final plan"},
	Object:    {name: "object"},
	Result:    {name: "object", invalid: "Provider produced inconsistent result after apply"},
	Read:      {name: "object read", leak: "Provider produced invalid object"},
	Imported:  {name: "imported object", leak: "Import returned a non-null value for a write-only attribute"},
	Upgraded:  {name: "upgraded state", leak: "Invalid resource state upgrade"},
	Moved:     {name: "moved object", leak: "Provider returned invalid value"},
	Generated: {name: "generated configuration"},
	Identity:  {name: "identity"},
}

// isRead reports whether nothing was planned or changed for the answer.
func (a Answer) isRead() bool {
	return a == Read || a == Imported || a == Upgraded || a == Moved || a == Generated
}

// exists reports whether the answer is about an object that exists, rather than one that is planned.
func (a Answer) exists() bool {
	return a == Object || a == Read || a == Imported || a == Upgraded || a == Moved
}

// String returns the name of the kind in messages.
func (a Answer) String() string { return kinds[a].name }

// invalid is the summary of the error for an answer that breaks the contract.
func (a Answer) invalid() string {
	if s := kinds[a].invalid; s != "" {
		return s
	}
	return "Provider produced invalid " + a.String()
}

// leak is the summary of the error for an answer that reveals an ephemeral value. Most kinds of answers
// have no summary of their own for it.
func (a Answer) leak() string {
	if s := kinds[a].leak; s != "" {
		return s
	}
	return a.invalid()
}

// Rules that package schema leaves to the operation.
var (
	ErrNull      = errors.New("the object is null, although it must exist")
	ErrNotNull   = errors.New("the object is not null, although it is to be destroyed")
	ErrWrongType = errors.New("it is of another resource type than asked for")
)

// Checker checks a provider's answers about one object against the contract, and looks for ephemeral values
// in them. It belongs to one goroutine.
type Checker struct {
	Provider   addr.Provider
	Configured addr.ProviderConfig // that answers
	Object     addr.Object
	Block      *schema.Block
	Withheld   schema.Patterns // the attributes whose values may come back although they are not stored
	Leaks      Leaks
	// Later is set while answers come before the configuration is known. They are not searched for values
	// that must not come back: Review does that.
	Later bool
	// Exposed is set once an id was stored although it contains a value that should have been left out.
	Exposed bool

	public public
}

// Accept checks an object against the rules for every object: it has the schema's type, and no write-only
// values. A write-only value is an error and is dropped; any other violation makes the object unusable
// (cty.NilVal). The result has diags and the errors found.
func (c *Checker) Accept(v cty.Value, diags diag.List, a Answer) (cty.Value, diag.List) {
	return c.accept(v, diags, a, schema.AssertObject)
}

// AcceptKnown is Accept for an object that must be wholly known.
func (c *Checker) AcceptKnown(v cty.Value, diags diag.List, a Answer) (cty.Value, diag.List) {
	return c.accept(v, diags, a, func(b *schema.Block, v cty.Value) []error {
		if errs := schema.AssertObject(b, v); len(errs) > 0 {
			return errs
		}
		return schema.AssertWhollyKnown(v)
	})
}

// AcceptExisting is AcceptKnown for an object that must exist.
func (c *Checker) AcceptExisting(v cty.Value, diags diag.List, a Answer) (cty.Value, diag.List) {
	if v.IsNull() {
		return cty.NilVal, append(diags, c.Violations(a, ErrNull)...)
	}
	return c.AcceptKnown(v, diags, a)
}

// accept drops write-only values before check runs, so that one leaked secret is one error and the rest of
// the object can still be kept.
func (c *Checker) accept(v cty.Value, diags diag.List, a Answer, check func(*schema.Block, cty.Value) []error) (cty.Value, diag.List) {
	for _, path := range c.Block.WriteOnlyPaths(v) {
		diags = append(diags, diag.Diagnostic{
			Summary: a.leak(),
			Detail: fmt.Sprintf("The provider %s returned a value for the write-only attribute %s in the %s of %s. Such values must never be returned. The value was dropped, and the rest of the state is kept.\n\nThis is a bug in the provider.",
				c.Provider.ForDisplay(), schema.PathString(path), a, c.Object),
			Path: path,
		})
	}
	if v != cty.NilVal {
		v = c.Block.NullWriteOnly(v)
		c.rememberWithheld(v)
	}
	errs := check(c.Block, v)
	if diags = append(diags, c.Violations(a, errs...)...); len(errs) > 0 {
		return cty.NilVal, diags
	}
	v, diags = c.storable(v, c.Block.Type(), diags, a)
	v, leaks := c.withhold(v, c.Block.Type(), a)
	return v, append(diags, leaks...)
}

// storable returns v without the parts that cannot be stored, and diags with an error for each part that was
// left out.
func (c *Checker) storable(v cty.Value, ty cty.Type, diags diag.List, a Answer) (cty.Value, diag.List) {
	whole := v.Type()
	v, faults := value.Storable(v, ty)
	for _, f := range faults {
		diags = append(diags, diag.Diagnostic{
			Summary: a.invalid(),
			Detail: fmt.Sprintf("The provider %s returned something in the attribute %s of the %s of %s that cannot be stored: %s. It was left out; the rest is kept.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
				c.Provider.ForDisplay(), schema.PathIn(whole, f.Path), a, c.Object, f.Err),
			Path: f.Path, Address: c.Object.Instance.String(),
		})
	}
	return v, diags
}

// AcceptIdentity checks the identity of an object that exists: nothing in it may be unknown, or an ephemeral
// value that must not be stored. An identity that breaks the rule is dropped; of one that cannot be stored as
// it is, only the parts that cannot. of is the answer that contains it.
func (c *Checker) AcceptIdentity(id cty.Value, of Answer) (cty.Value, diag.List) {
	if !id.IsWhollyKnown() {
		return cty.NilVal, c.Violations(Identity, fmt.Errorf("the identity of the %s is not wholly known", of))
	}
	id, diags := c.storable(id, id.Type(), nil, Identity)
	withheld, leaks := c.withholdsIdentity(id, of)
	if withheld {
		id = cty.NilVal
	}
	return id, append(diags, leaks...)
}

// AcceptPlannedIdentity is AcceptIdentity for an identity that is planned, of which parts may be unknown.
func (c *Checker) AcceptPlannedIdentity(id cty.Value) (cty.Value, diag.List) {
	withheld, leaks := c.withholdsIdentity(id, Plan)
	if withheld {
		id = cty.NilVal
	}
	return id, leaks
}

// Violations returns an error for each rule that an answer breaks.
func (c *Checker) Violations(a Answer, broken ...error) (diags diag.List) {
	for _, err := range broken {
		diags = append(diags, diag.Diagnostic{
			Summary: a.invalid(),
			Detail: fmt.Sprintf("The provider %s returned a %s for %s that breaks the rules: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
				c.Provider.ForDisplay(), a, c.Object, Text(err, schema.PathString)),
			Address: c.Object.Instance.String(),
		})
	}
	return diags
}

// Deferred is the error for an answer that something must be done later, where the engine did not allow that.
// doing names the operation that it was asked for.
func (c *Checker) Deferred(doing, reason string) diag.List {
	return diag.Errorf("Provider deferred a change", "While %s %s, the provider %s answered that this must be done later (%s), although deferring was not allowed. This is a bug in the provider.",
		doing, c.Object, c.Provider.ForDisplay(), reason)
}

// Text describes a broken rule: the path of the attribute, as render writes it, and the rule.
func Text(err error, render func(cty.Path) string) string {
	if pe, ok := errors.AsType[cty.PathError](err); ok && len(pe.Path) > 0 {
		return render(pe.Path) + ": " + pe.Error()
	}
	return err.Error()
}
