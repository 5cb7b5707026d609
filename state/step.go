package state

import (
	"bytes"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// Step says that a change is the outcome of the step of its instance, which was evaluated as a whole and
// carried out without an error.
type Step struct {
	// Reads are all parts of the state that the instance was evaluated from, directly or indirectly.
	Reads []Subject
	// Given is the hash of the evaluated configuration; zero for none.
	Given Hash
	// Settled says that nothing is left to do for the instance: its conditions have passed, all that it was
	// evaluated from is stored, and one that is removed is not part of the configuration.
	Settled bool
}

// Settler is implemented by runs of stores that note which instances are due to be evaluated.
type Settler interface {
	// Settle says that nothing is left to do for instances whose steps were not settled when they ended. It
	// takes effect when the run ends.
	Settle(instances ...addr.Instance)
}

// Keyed is implemented by runs of stores that keep hashes.
type Keyed interface {
	// HashKey returns the key that hashes of configurations are made with; nil for none.
	HashKey() []byte
}

// Around returns the subjects that an instance is a part of: itself, the instances of its resource, and all
// of its block in each module around it.
func Around(a addr.Instance) []Subject {
	block := a.Config().String()
	out := []Subject{InstanceSubject(a), {Kind: AllInstances, Addr: a.Abs().String()}, {Kind: AllWithin, Addr: block}}
	for m := a.Module; !m.IsRoot(); m, _, _ = m.Parent() {
		out = append(out, Subject{Kind: AllWithin, Addr: block, Within: m.String()})
	}
	return out
}

// SameValue reports whether two objects have the same value for all that refers to them. Data that the
// provider or the state keeps for itself does not count. Either may be nil.
func (o *Object) SameValue(other *Object) bool {
	if o == nil || other == nil {
		return o == other
	}
	return bytes.Equal(o.attrs, other.attrs) && maps.Equal(o.Flatmap, other.Flatmap) && o.SchemaVersion == other.SchemaVersion &&
		slices.EqualFunc(o.Sensitive, other.Sensitive, cty.Path.Equals) && slices.EqualFunc(o.Withheld, other.Withheld, sameWithheld)
}

// sameWithheld reports whether two records are of the same value. The resources that have got it do not
// count.
func sameWithheld(a, b Withheld) bool {
	a.To, a.Owed, b.To, b.Owed = nil, nil, nil, nil
	return a.Equal(b)
}

// Owes reports whether resources have yet to get a computed value of the object (E98).
func (o *Object) Owes() bool {
	return slices.ContainsFunc(o.Withheld, func(w Withheld) bool { return len(w.Owed) > 0 })
}
