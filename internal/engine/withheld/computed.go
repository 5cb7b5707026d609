package withheld

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/state"
)

// Value is the value of a computed attribute, which references to the object see although it is not stored.
type Value struct {
	Path   cty.Path
	Now    cty.Value       // unknown if it is not made yet, or existed only in an earlier run
	Past   bool            // it existed only in an earlier run, or will be gone in the apply
	Record *state.Withheld // of the value; nil if it is not made yet, or is another one
}

// ComputedValues returns the values of the computed attributes of an object that is known as a whole or in
// parts. Where the object stays as it is, a value that was read counts as one of an earlier run, as the apply
// does not read it again. cfg is the configuration that the object is of, cty.NilVal if that is not known;
// records are the state's records of it.
func ComputedValues(a *Attributes, v, cfg cty.Value, records []state.Withheld) (out []Value) {
	if len(a.Names) == 0 {
		return nil
	}
	var paths []cty.Path
	for _, path := range a.Names.Find(v) {
		if isComputed(a, path, cfg) {
			paths = append(paths, path)
		}
	}
	for _, w := range records {
		if w.Computed && a.Names.Matches(w.Path) && hasPlace(v, w.Path) {
			paths = appendNew(paths, w.Path)
		}
	}
	for _, path := range paths {
		c := Value{Path: path, Now: part(v, path), Record: recordAt(&state.Object{Withheld: records}, path)}
		if c.Now == cty.NilVal {
			null, _ := path.Apply(v) // it leads somewhere, or it would not be there
			c.Past, c.Now = true, cty.UnknownVal(null.Type())
		} else if !c.Now.IsWhollyKnown() {
			c.Record = nil
		} else if c.Past = a.Stays && c.Record != nil; c.Past && a.compare(*c.Record, c.Now) == fingerprint.Different {
			c.Record = nil
		}
		out = append(out, c)
	}
	return out
}
