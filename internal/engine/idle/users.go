package idle

import (
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// Search finds users of computed values that a plan does not reach, when the first one is asked for.
type Search struct {
	provisioned func() map[string]*provisioned
	actions     func() map[string][]string
}

// NewSearch returns a search. stored makes the run for it; stays reports whether an object exists and the
// plan does not replace it.
func NewSearch(cfg *blocks.Config, stored func() *eval.Run, stays func(addr.Instance) bool) *Search {
	run := sync.OnceValue(stored)
	return &Search{
		provisioned: sync.OnceValue(func() map[string]*provisioned { return findProvisioners(run(), cfg, stays) }),
		actions:     sync.OnceValue(func() map[string][]string { return findActions(run(), cfg) }),
	}
}

// Provisioners returns warnings about provisioners that do not get a new value of a change.
func (s *Search) Provisioners(c *plan.Change, by string) (diags diag.List) {
	found := s.provisioned()[by]
	if found == nil {
		return nil
	}
	if c.Action != plan.Update {
		diags = s.Departing(by)
	}
	if len(found.stay) > 0 {
		makes, options := "makes", make([]replaceOption, len(found.stay))
		if c.Action == plan.Update {
			makes = "may make"
		}
		for i, a := range found.stay {
			options[i] = replaceOption(a)
		}
		diags = append(diags, diag.Warnf("New value is not given to provisioners",
			"The plan %s a new value of %s, which provisioners use that run when an object is created. The objects exist, so they do not run again. To run them with the new value, replace the objects in the same run:%s",
			makes, by, diag.Lines("", options))...)
	}
	return diags.WithAddress(c.Addr.String())
}

// Departing is a warning about provisioners that run before their objects are destroyed and do not have a
// value then; nil if there are none.
func (s *Search) Departing(by string) diag.List {
	found := s.provisioned()[by]
	if found == nil || len(found.depart) == 0 {
		return nil
	}
	return diag.Warnf("Later runs do not have a value that they need",
		"Provisioners that run before objects are destroyed are made of %s, which exists only in the run that makes it:%s\n\nPlans that destroy or replace these objects will end with an error. Store the value where it can be read from, for instance through a write-only argument, and have the provisioners read it from there through an ephemeral resource.",
		by, diag.Lines("- ", found.depart))
}

// replaceOption is the option that replaces an object.
type replaceOption addr.Instance

func (a replaceOption) String() string { return "-replace=" + diag.Argument(addr.Instance(a).String()) }

// Actions returns the actions and the conditions of triggers that would use values of a change, in a series;
// "" for none.
func (s *Search) Actions(c *plan.Change) string {
	var users []string
	for _, w := range c.Withheld {
		if w.Computed && w.Status.Differs() {
			users = append(users, s.actions()[computed.Name(c.Addr, w.Path)]...)
		}
	}
	return diag.Series("and", once(users))
}

// provisioned has the objects whose provisioners use one computed value and do not run.
type provisioned struct {
	stay   []addr.Instance // with provisioners that ran when they were created
	depart []addr.Instance // with provisioners that run before they are destroyed
}

// findProvisioners finds the provisioners that use computed values and that a plan does not run, by the names
// of the values. stays reports whether an object exists and the plan does not replace it.
func findProvisioners(run *eval.Run, cfg *blocks.Config, stays func(addr.Instance) bool) map[string]*provisioned {
	found := map[string]*provisioned{}
	of := func(by string) *provisioned {
		if found[by] == nil {
			found[by] = &provisioned{}
		}
		return found[by]
	}
	provisions := func(b *blocks.Resource) bool {
		return len(b.Provisioners) > 0 && (len(b.Computed) > 0 || !b.Borrows.Empty() || !b.Opens.Empty()) || len(b.DestroyProvisioners) > 0 && len(b.Computed) > 0
	}
	each(run, cfg, provisions, func(t *future.Task, in *eval.Instance) {
		a := in.Addr()
		in.Prepare(t)
		self := in.Value(t, nil)
		if stays(a) {
			for _, by := range madeOf(t, in, self) {
				of(by).stay = append(of(by).stay, a)
			}
		}
		if d := run.DestroyProvisioners(a); d != nil {
			d.Prepare(t)
			for _, by := range madeOf(t, d, self) {
				of(by).depart = append(of(by).depart, a)
			}
		}
	})
	return found
}

// provisioners are provisioners of one object that run at the same time.
type provisioners interface {
	Provisioners() []*config.Provisioner
	EvalProvisioner(t *future.Task, o *eval.Opened, index int, self cty.Value) (cty.Value, diag.List)
	EvalConnection(t *future.Task, o *eval.Opened, index int, self cty.Value) (cty.Value, diag.List)
}

// madeOf returns the names of the computed values that the arguments and connections of provisioners are made
// of, once each.
func madeOf(t *future.Task, of provisioners, self cty.Value) (names []string) {
	o := collect(&names)
	for i := range of.Provisioners() {
		args, _ := of.EvalProvisioner(t, o, i, self)
		conn, _ := of.EvalConnection(t, o, i, self)
		names = append(names, namesIn(args)...)
		if conn != cty.NilVal {
			names = append(names, namesIn(conn)...)
		}
	}
	return once(names)
}

// findActions finds the actions, and the conditions of triggers, that use computed values, by the names of
// the values.
func findActions(run *eval.Run, cfg *blocks.Config) map[string][]string {
	found := map[string][]string{}
	acts := func(b *blocks.Resource) bool { return b.IsAction() || len(b.ActionTriggers) > 0 }
	each(run, cfg, acts, func(t *future.Task, in *eval.Instance) {
		var names []string
		user := in.Addr().String()
		if in.Resource.Block.IsAction() {
			in.Prepare(t)
			v, _ := in.EvalBody(t, collect(&names))
			names = append(names, namesIn(v)...)
		} else {
			user = "the condition of a trigger of " + user
			for _, tr := range eval.ActionTriggers(in) {
				tr.PrepareCondition(t)
				_, made, _ := tr.Condition(t, collect(&names), in.Value(t, nil))
				names = append(names, namesOf(made)...)
			}
		}
		for _, by := range once(names) {
			found[by] = append(found[by], user)
		}
	})
	return found
}

// collect returns an Opened that collects the names of the computed values by which ephemeral instances are
// configured that would be opened.
func collect(names *[]string) *eval.Opened {
	return Closed(func(_ *eval.Instance, made []value.Computed) { *names = append(*names, namesOf(made)...) })
}

func namesIn(v cty.Value) []string { return namesOf(value.MadeOf(v)) }

func namesOf(made []value.Computed) (names []string) {
	for _, c := range made {
		names = append(names, c.By)
	}
	return names
}

func once(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
