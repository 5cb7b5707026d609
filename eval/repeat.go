package eval

import (
	"math/big"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/value"
)

// repeated is what resources and module calls share: how often they are there.
type repeated struct {
	module *Module
	repeat repetition
	name   string // for messages
	// ephemeral says that it is an ephemeral block.
	ephemeral bool
	// sequences says that for_each may be a tuple or list too, whose indexes are the keys. They are part of no address: they would change with the order.
	sequences bool
	// recorded tells the keys in place of the arguments, if it is set.
	recorded func() []addr.Key
	keys     future.Cell[*expansion]
}

// Repeat is the form of repetition.
type Repeat uint8

// The forms of repetition.
const (
	Single  Repeat = iota // one instance without a key
	Counted               // count
	ForEach               // for_each
	Enabled               // one instance or none
)

// keyed reports whether instances are told apart by keys.
func (r Repeat) keyed() bool { return r == Counted || r == ForEach }

// expansion is the outcome of a count, for_each or enabled argument.
type expansion struct {
	form   Repeat
	keys   []addr.Key
	values map[addr.Key]cty.Value // ForEach only
	// failed says that the instances could not be told; the reason was reported. There are no keys then.
	failed bool
	// generic says that the one instance stands for all of them, while validating.
	generic bool
}

func (e *expansion) has(k addr.Key) bool {
	switch e.form {
	case Counted:
		return k.Kind() == addr.KeyInt && k.Int() >= 0 && k.Int() < len(e.keys)
	case ForEach:
		_, ok := e.values[k]
		return ok
	default:
		return k == addr.NoKey && len(e.keys) == 1
	}
}

var singleExpansion = &expansion{form: Single, keys: []addr.Key{addr.NoKey}}

// expand returns the instances, evaluating the arguments on first demand.
func (r *repeated) expand(t *future.Task, via *hcl.Range) *expansion {
	if e, ok := r.keys.Peek(); ok {
		return e
	}
	e, cycle := r.keys.Get(t, r.name+" (instances)", via, func() *expansion { return r.evaluate(t) })
	if cycle != nil {
		r.module.run.reportCycle(cycle)
		return failedExpansion
	}
	if e == nil { // the computation panicked
		return failedExpansion
	}
	return e
}

var failedExpansion = &expansion{failed: true}

func (r *repeated) evaluate(t *future.Task) *expansion {
	run := r.module.run
	if r.recorded != nil && r.repeat.repeated() {
		return recordedExpansion(formOf(r.repeat), r.recorded())
	}
	var e *expansion
	var diags diag.List
	switch {
	case r.repeat.count != nil:
		e, diags = r.count(t)
	case r.repeat.forEach != nil:
		e, diags = r.forEach(t)
	case r.repeat.enabled != nil:
		e, diags = r.enabled(t)
	default:
		return singleExpansion
	}
	if !unknownAfterFailure(diags) || !run.Diags.HasErrors() {
		run.Report(diags.WithAddress(r.name))
	}
	if diags.HasErrors() {
		return &expansion{form: e.form, failed: true}
	}
	if run.opt.Phase == Validating {
		return &expansion{form: e.form, keys: []addr.Key{addr.NoKey}, generic: true}
	}
	return e
}

// recordedExpansion is an expansion to the given keys, as far as they are of the form. Without any, the instances cannot be told. What each.value is for
// them is not known.
func recordedExpansion(form Repeat, recorded []addr.Key) *expansion {
	e := &expansion{form: form}
	switch form {
	case Counted:
		n := 0
		for _, k := range recorded {
			if k.Kind() == addr.KeyInt {
				n = max(n, k.Int()+1)
			}
		}
		for i := range n {
			e.keys = append(e.keys, addr.IntKey(i))
		}
	case ForEach:
		e.values = map[addr.Key]cty.Value{}
		for _, k := range recorded {
			if k.Kind() == addr.KeyString {
				e.keys = append(e.keys, k)
				e.values[k] = cty.DynamicVal
			}
		}
		slices.SortFunc(e.keys, addr.Key.Compare)
	default:
		if slices.Contains(recorded, addr.NoKey) {
			e.keys = []addr.Key{addr.NoKey}
		}
	}
	e.failed = len(e.keys) == 0
	return e
}

func unknownAfterFailure(diags diag.List) bool {
	return slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Extra == diag.Unknown{} })
}

func (r *repeated) argument(t *future.Task, x *lang.Expr) (cty.Value, diag.List) {
	return r.module.run.eval(&scope{m: r.module, t: t}, x)
}

// refuse returns the errors that hold for any repetition argument. Whether apply is under way may decide about ephemeral blocks, whose keys are kept
// nowhere, but no other ephemeral value may.
func (r *repeated) refuse(v cty.Value, x *lang.Expr, arg string) (cty.Value, diag.List) {
	rng, unknownOK := x.Range(), r.module.run.opt.Phase == Validating
	applyingOK := r.ephemeral && arg != "for_each" && r.module.block.onlyApplying(x)
	at := func(why string) diag.List {
		return diag.List{{Summary: "Invalid " + arg + " argument", Detail: why, Subject: rng.Ptr(), Expression: x.Expression}}
	}
	if value.Contains(v, value.Ephemeral) && !applyingOK {
		return v, at("An ephemeral value cannot decide which instances exist: " + r.keysReason() + " Use a value that isn't ephemeral." + r.module.block.becauseOf(x))
	}
	if arg == "for_each" && value.Has(v, value.Sensitive) { // elements may be: they are no keys
		return v, at("Sensitive values, or values derived from them, cannot be used as for_each arguments: the keys would be shown. Use nonsensitive() if the keys are not secret.")
	}
	v, _ = v.Unmark()
	if v.IsNull() {
		return v, at("The " + arg + " argument must not be null.")
	}
	if !v.IsKnown() && !unknownOK {
		return v, undecided(x, arg)
	}
	return v, nil
}

// keysReason says why keys must not be secret.
func (r *repeated) keysReason() string {
	if r.ephemeral {
		return "their keys are part of addresses, which are shown, and the value must not be. Only whether apply is under way (tofu.applying, terraform.applying) may decide about count and enabled of an ephemeral block."
	}
	return "their keys are kept in the state, and the value must not be."
}

func undecided(x *lang.Expr, arg string) diag.List {
	return diag.List{{
		Summary: "Invalid " + arg + " argument",
		Detail: "The " + arg + " value depends on what will be known only after apply, so it cannot be told now how many instances there will be. " +
			"Make it depend on values known in advance, or apply with -target first what it depends on.",
		Subject: x.Range().Ptr(), Expression: x.Expression, Extra: diag.Unknown{},
	}}
}

func (r *repeated) count(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.count, &expansion{form: Counted}
	v, diags := r.argument(t, x)
	if diags.HasErrors() {
		return e, diags
	}
	v, more := r.refuse(v, x, "count")
	if diags = append(diags, more...); diags.HasErrors() {
		return e, diags
	}
	v, err := convert.Convert(v, cty.Number)
	if err != nil {
		return e, append(diags, diag.At(x.Range(), "Invalid count argument", "A whole number is required: %s.", err)...)
	}
	if !v.IsKnown() {
		return e, diags
	}
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact || n < 0 || n > maxCount {
		return e, append(diags, diag.At(x.Range(), "Invalid count argument", "The count must be a whole number from zero to %d.", maxCount)...)
	}
	for i := range int(n) {
		e.keys = append(e.keys, addr.IntKey(i))
	}
	return e, diags
}

const maxCount = 10_000_000

func (r *repeated) forEach(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.forEach, &expansion{form: ForEach}
	v, diags := r.argument(t, x)
	if diags.HasErrors() {
		return e, diags
	}
	validating := r.module.run.opt.Phase == Validating
	v, more := r.refuse(v, x, "for_each")
	if diags = append(diags, more...); diags.HasErrors() || !v.IsKnown() {
		return e, diags
	}
	bad := func(why string) (*expansion, diag.List) {
		return e, append(diags, diag.Diagnostic{Summary: "Invalid for_each argument", Detail: why, Subject: x.Range().Ptr(), Expression: x.Expression})
	}
	ty := v.Type()
	sequence := r.sequences && (ty.IsTupleType() || ty.IsListType())
	if !sequence && !ty.IsMapType() && !ty.IsObjectType() && !(ty.IsSetType() && (ty.ElementType() == cty.String || ty.ElementType() == cty.DynamicPseudoType)) {
		if r.sequences {
			return bad("The for_each argument of an import must be a map, an object, a set of strings, a tuple or a list, and this is " + ty.FriendlyNameForConstraint() + ".")
		}
		return bad("The for_each argument must be a map, an object, or a set of strings, and this is " + ty.FriendlyNameForConstraint() + ". A list of strings can be turned into a set with toset().")
	}
	e.values = make(map[addr.Key]cty.Value, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, elem := it.Element()
		if ty.IsSetType() {
			k = elem
		}
		if !k.IsKnown() && validating {
			return &expansion{form: ForEach}, diags
		}
		if !k.IsKnown() {
			return e, append(diags, undecided(x, "for_each")...)
		}
		key, err := addr.KeyFromValue(k)
		if err != nil || !sequence && key.Kind() != addr.KeyString {
			return bad("Every element of the set must be a string, not null.")
		}
		e.values[key] = elem
		e.keys = append(e.keys, key)
	}
	slices.SortFunc(e.keys, addr.Key.Compare)
	return e, diags
}

func (r *repeated) enabled(t *future.Task) (*expansion, diag.List) {
	x, e := r.repeat.enabled, &expansion{form: Enabled}
	v, diags := r.argument(t, x)
	if diags.HasErrors() {
		return e, diags
	}
	v, more := r.refuse(v, x, "enabled")
	if diags = append(diags, more...); diags.HasErrors() {
		return e, diags
	}
	v, err := convert.Convert(v, cty.Bool)
	if err != nil {
		return e, append(diags, diag.At(x.Range(), "Invalid enabled argument", "The enabled argument must be true or false: %s.", err)...)
	}
	if v.IsKnown() && v.True() {
		e.keys = []addr.Key{addr.NoKey}
	}
	return e, diags
}

// Call is a module call object.
type Call struct {
	repeated
	block *callBlock

	mu       sync.Mutex
	children map[addr.Key]*Module

	wholes sync.Map // part → *wholeRead
}

// Addr returns the address of the call without an instance key.
func (c *Call) Addr() addr.ModuleInstance { return c.module.Addr.Child(c.block.cfg.Name, addr.NoKey) }

func formOf(r repetition) Repeat {
	switch {
	case r.count != nil:
		return Counted
	case r.forEach != nil:
		return ForEach
	case r.enabled != nil:
		return Enabled
	default:
		return Single
	}
}

// Children returns the module instances of the call, ordered by key.
func (c *Call) Children(t *future.Task, via *hcl.Range) []*Module {
	e := c.expand(t, via)
	out := make([]*Module, len(e.keys))
	for i, k := range e.keys {
		out[i] = c.Child(k)
	}
	return out
}

// Child returns the instance with the given key, whether or not the call's arguments say that it exists.
func (c *Call) Child(k addr.Key) *Module {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.children[k]
	if m == nil && c.block.child != nil {
		m = c.module.run.newModule(c.module.Addr.Child(c.block.cfg.Name, k), c.block.child, c)
		c.children[k] = m
	}
	return m
}
