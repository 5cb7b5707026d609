package histories

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/edit"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// edited returns an act that writes a changed state.
func (d *dues) edited(what string, branch *design, change func(s *state.State)) *act {
	a := d.one(what, branch)
	a.command = func(op *mayfly.Operation) diag.List {
		s := op.State().Copy()
		change(s)
		return op.Write(s)
	}
	return a
}

// byHand draws a command that changes the state, or the cloud; nil if there is nothing to change.
func (d *dues) byHand(branch *design) *act {
	i, ok := d.any()
	if !ok {
		return nil
	}
	set := func(s *state.State, tainted bool) {
		o := s.Instance(i).Current.Clone()
		o.Tainted = tainted
		s.SetObject(addr.Object{Instance: i}, o, s.Instance(i).Provider)
	}
	switch d.r.IntN(9) {
	case 0:
		return d.edited("taint "+i.String(), branch, func(s *state.State) { set(s, true) })
	case 1:
		return d.edited("untaint "+i.String(), branch, func(s *state.State) { set(s, false) })
	case 2:
		to := i
		to.Resource.Name = fmt.Sprint("b", d.r.IntN(len(branch.pieces)))
		return d.move(i, to, branch)
	case 3:
		to := i
		to.Key = []addr.Key{addr.IntKey(0), addr.IntKey(1), addr.StringKey("a"), addr.StringKey("b"), addr.NoKey}[d.r.IntN(5)]
		return d.move(i, to, branch)
	case 4:
		return d.edited("state rm "+i.String(), branch, func(s *state.State) { s.RemoveInstance(i) })
	case 5:
		return d.push(i)
	case 6:
		return d.rollback(i, branch)
	case 7:
		return d.imported(i, branch)
	}
	from := addr.Provider{Hostname: "mayfly.dev", Namespace: "test", Type: "sim"}
	to := addr.Provider{Hostname: "mayfly.dev", Namespace: "test", Type: "sam"}
	if branch.other {
		from, to = to, from
	}
	for _, b := range d.branches {
		b.other = !b.other
	}
	return d.edited("state replace-provider", d.branches[0], func(s *state.State) {
		_, all := edit.UsersOf(s, from)
		for _, i := range all {
			pc := s.Instance(i).Provider
			pc.Provider = to
			s.SetProvider(i, pc)
		}
	})
}

func (d *dues) move(from, to addr.Instance, branch *design) *act {
	if d.read().Instance(to) != nil {
		return nil
	}
	return d.edited(fmt.Sprintf("state mv %s %s", from, to), branch, func(s *state.State) {
		if err := s.Move(from, to); err != nil {
			d.t.Error(err)
		}
	})
}

// push stores the state as a whole, in which an object has become like another one.
func (d *dues) push(i addr.Instance) *act {
	m := d.manager()
	f, err := m.Read(context.Background())
	if err == nil {
		other, _ := d.any()
		d.log = append(d.log, fmt.Sprintf("state push: %s is %s", i, other))
		f.State.SetObject(addr.Object{Instance: i}, f.State.Instance(other).Current.Clone(), f.State.Instance(i).Provider)
		f.Serial++
		err = m.Write(context.Background(), f)
	}
	if err != nil && !strings.Contains(err.Error(), "claimed") {
		d.t.Fatal(err)
	}
	return nil
}

// rollback puts an object back to what it was when an earlier run had ended.
func (d *dues) rollback(i addr.Instance, branch *design) *act {
	h := d.manager().(store.Historian)
	runs, err := h.Runs(context.Background(), 0)
	if err != nil {
		d.t.Fatal(err)
	}
	runs = slices.DeleteFunc(runs, func(r store.PastRun) bool { return r.Ended.IsZero() })
	if len(runs) == 0 {
		return nil
	}
	past, err := h.At(context.Background(), store.Moment{Run: runs[d.r.IntN(len(runs))].Info.ID})
	if err != nil {
		return nil // nothing is known of that time
	}
	all := d.r.IntN(2) == 0
	return d.edited(fmt.Sprintf("state rollback %s (all: %v)", i, all), branch, func(s *state.State) {
		for _, c := range state.Diff(s, past.State) {
			if all || c.Object.Instance == i {
				if c.New != nil {
					c.New = c.New.Clone()
				}
				c.Apply(s)
			}
		}
	})
}

// imported takes an object out of the state, and another one of the cloud in its place.
func (d *dues) imported(i addr.Instance, branch *design) *act {
	objects, err := simcloud.Objects(d.w.cloud)
	if err != nil || len(objects) == 0 {
		return nil
	}
	id := objects[d.r.IntN(len(objects))].ID
	a := d.one(fmt.Sprintf("import %s %s", i, id), branch)
	a.command = func(op *mayfly.Operation) diag.List {
		s := op.State().Copy()
		s.RemoveInstance(i)
		if diags := op.Write(s); diags.HasErrors() {
			return diags
		}
		if diags := op.Reread(context.Background()); diags.HasErrors() {
			return diags
		}
		return op.Import(context.Background(), i, id, mayfly.ImportOptions{})
	}
	return a
}

// drift changes an object of the cloud.
func (d *dues) drift() {
	objects, err := simcloud.Objects(d.w.cloud)
	if err != nil || len(objects) == 0 {
		return
	}
	o := objects[d.r.IntN(len(objects))]
	o.Attrs["tags"] = json.RawMessage(fmt.Sprintf(`{"v":"%d","k":"a","ks":"a","r":""}`, d.r.IntN(3)))
	if err := simcloud.WriteObject(d.w.cloud, o); err != nil {
		d.t.Fatal(err)
	}
	d.log = append(d.log, "drift of "+o.Name)
}
