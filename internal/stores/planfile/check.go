package planfile

import (
	"slices"

	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// check returns an error unless the plan has everything that showing or applying it relies on. Decoding has
// checked the form of each part; check is about their combination.
func (f *File) check() error {
	p := f.Plan
	switch {
	case p.Base == nil:
		return corrupt("it lacks a state that it starts from")
	case p.Meta.Lineage == "" && (p.Meta.Serial != 0 || !p.Base.Empty()):
		return corrupt("it has a state and does not say which one that is")
	}
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		if err := checkSubject(c); err != nil {
			return err
		}
		if p.Errored { // and is only shown
			continue
		}
		if err := checkObjects(c); err != nil {
			return err
		}
	}
	for _, later := range p.Deferrals {
		if err := checkResource(later.Change); err != nil { // its provider may not be known yet
			return err
		}
	}
	return nil
}

// checkSubject returns an error unless the change has a resource and a provider.
func checkSubject(c *plan.Change) error {
	if err := checkResource(c); err != nil {
		return err
	}
	if c.Provider.Provider.Type == "" {
		return corrupt("its change of %s names no provider", c.Object())
	}
	return nil
}

// checkResource returns an error unless the change has a resource.
func checkResource(c *plan.Change) error {
	r := c.Addr.Resource
	if r.Type == "" || r.Name == "" || r.Mode.Fleeting() {
		return corrupt("it has a change of something that is not a resource")
	}
	return nil
}

// checkObjects returns an error unless the change has the objects that its action is about.
func checkObjects(c *plan.Change) error {
	before, after := false, false
	switch c.Action {
	case plan.Create, plan.Read:
		after = true
	case plan.Update, plan.DeleteThenCreate, plan.CreateThenDelete, plan.ForgetThenCreate:
		before, after = true, true
	case plan.Delete, plan.Forget:
		before = true
	}
	if before && !isObject(c.Before) {
		return corrupt("its change of %s lacks the object before", c.Object())
	}
	if after && !isObject(c.After) {
		return corrupt("its change of %s lacks the planned object", c.Object())
	}
	return nil
}

// isObject reports whether a stored value is an object that is not null.
func isObject(d value.Durable) bool { return !d.IsZero() && d.Type().IsObjectType() && !d.IsNull() }
