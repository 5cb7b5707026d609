package computed

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Undelivered is an object with computed values that an earlier run made and did not deliver (E98). The run
// finds out whether the configuration still uses them.
type Undelivered struct {
	Object  addr.Object
	Had     []addr.ConfigResource // resources that got a value
	Created bool                  // the values were all made along with the object

	owed    map[string][]addr.ConfigResource // the resources that are owed a value, by its attribute
	missing []addr.ConfigResource            // owed resources that still use a value
}

// FindUndelivered returns the values of an object that were not delivered to resources which exists reports;
// nil if there are none.
func FindUndelivered(of addr.Object, records []state.Withheld, exists func(addr.ConfigResource) bool) *Undelivered {
	u := &Undelivered{Object: of, Created: true, owed: map[string][]addr.ConfigResource{}}
	for _, w := range records {
		for _, r := range w.Owed {
			if exists(r) {
				by := Name(of.Instance, w.Path)
				u.owed[by], u.Created = append(u.owed[by], r), u.Created && w.Created
			}
		}
		for _, r := range w.To {
			if !slices.Contains(w.Owed, r) && !slices.Contains(u.Had, r) {
				u.Had = append(u.Had, r)
			}
		}
	}
	if len(u.owed) == 0 {
		return nil
	}
	return u
}

// Owed returns the resources that are owed a value.
func (u *Undelivered) Owed() (out []addr.ConfigResource) {
	for _, by := range slices.Sorted(maps.Keys(u.owed)) {
		for _, r := range u.owed[by] {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Error is the error about the values of an object that resources are owed and still use; none if those that
// touched reports do not use them.
func (u *Undelivered) Error(touched func(addr.ConfigResource) bool) diag.List {
	if !slices.ContainsFunc(u.missing, touched) {
		return nil
	}
	a := u.Object.Instance
	detail := fmt.Sprintf("An earlier run made a new value for %s, or may have, and ended before %s had it.", a, Names(u.missing))
	if len(u.Had) > 0 {
		detail += fmt.Sprintf(" It was delivered to %s.", Names(u.Had))
	}
	return diag.Errorf("Value was not delivered",
		"%s The value exists no longer, as ephemeral_attributes keeps it out of the state. To make a new one, add the option -replace=%s. If all is well as it is, run: untaint %s", detail, diag.Argument(a.String()), diag.Argument(a.String()))
}

// Owe notes an object with values that were not delivered, before anything that uses them is evaluated.
func (u *Uses) Owe(of *Undelivered) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.undelivered = append(u.undelivered, of)
	for by := range of.owed {
		if u.owed == nil {
			u.owed = map[string]*Undelivered{}
		}
		u.owed[by] = of
	}
}

// Miss reports whether a user of a computed value is owed it by an earlier run, and notes that it still uses
// the value.
func (u *Uses) Miss(of value.Computed, user addr.Instance) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	block, owed := user.Config(), u.owed[of.By]
	if owed == nil || !slices.Contains(owed.owed[of.By], block) {
		return false
	}
	if !slices.Contains(owed.missing, block) {
		owed.missing = append(owed.missing, block)
	}
	return true
}

// Undelivered returns the objects that Owe has noted, sorted by address.
func (u *Uses) Undelivered() []*Undelivered {
	u.mu.Lock()
	defer u.mu.Unlock()
	slices.SortFunc(u.undelivered, func(a, b *Undelivered) int { return a.Object.Instance.Compare(b.Object.Instance) })
	return u.undelivered
}
