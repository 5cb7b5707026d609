package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// computedUses has the uses of computed values that are not stored (E96). It is safe for concurrent use.
type computedUses struct {
	state *state.State // that the run begins with; nil for none. Set before the first use

	mu sync.Mutex
	of map[string][]computedUse // by attribute
}

// computedUse is a use of a computed value: by an argument of a managed resource, or by something else that
// needs the value in every run.
type computedUse struct {
	user     string        // for messages
	instance addr.Instance // zero for others
	path     cty.Path      // of the argument
}

func (u *computedUses) add(of value.Computed, use computedUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[string][]computedUse{}
	}
	u.of[of.By] = append(u.of[of.By], use)
}

// need notes that something other than a managed resource uses a value with these marks. It returns an error
// if the value cannot be had in this run.
func (u *computedUses) need(user string, of []value.Computed) (diags diag.List) {
	for _, c := range of {
		if c.Past {
			diags = append(diags, unavailable(u.state, user, c)...)
			continue
		}
		u.add(c, computedUse{user: user})
	}
	return diags
}

// unavailable is the error for a computed value of an earlier run that is needed.
func unavailable(st *state.State, user string, of value.Computed) diag.List {
	var told strings.Builder
	producer := ""
	if st != nil {
		for i, in := range st.AllInstances() {
			if in.Current == nil {
				continue
			}
			for _, w := range in.Current.Withheld {
				if !w.Computed || attributeName(i, w.Path) != of.By {
					continue
				}
				producer = i.String()
				if !w.At.IsZero() {
					fmt.Fprintf(&told, " at %s", w.At.UTC().Format("2006-01-02 15:04:05 UTC"))
				}
				if len(w.To) > 0 {
					fmt.Fprintf(&told, ", and it went to %s", names(w.To))
				}
			}
		}
	}
	way := "make a new one by replacing the object that it belongs to"
	if producer != "" {
		way += " with the option -replace=" + diag.Argument(producer)
	}
	return diag.Errorf("Value is no longer available",
		"%s needs %s. The provider computed that value%s. It is kept out of the state by ephemeral_attributes, and existed only in that run. Read it from where it was stored then, or %s.",
		user, of.By, told.String(), way)
}

func attributeName(i addr.Instance, path cty.Path) string {
	return i.String() + "." + schema.PathString(path)
}

// names lists the addresses of resources.
func names(list []addr.ConfigResource) string {
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// deliveries has the consumers that are still to get computed values in an apply (E98).
type deliveries struct {
	mu sync.Mutex
	// waiting has, by the object with the value, the resources that are owed it, each with the instances that
	// have not taken it yet.
	waiting   map[addr.Instance]map[addr.ConfigResource]map[addr.Instance]struct{}
	producers map[addr.Instance][]addr.Instance // by consumer
}

// expect adds the consumers of the computed values of an object.
func (d *deliveries) expect(producer addr.Instance, consumers []addr.Instance) {
	if d.waiting == nil {
		d.waiting = map[addr.Instance]map[addr.ConfigResource]map[addr.Instance]struct{}{}
		d.producers = map[addr.Instance][]addr.Instance{}
	}
	blocks := d.waiting[producer]
	if blocks == nil {
		blocks = map[addr.ConfigResource]map[addr.Instance]struct{}{}
		d.waiting[producer] = blocks
	}
	for _, c := range consumers {
		if blocks[c.Config()] == nil {
			blocks[c.Config()] = map[addr.Instance]struct{}{}
		}
		if _, again := blocks[c.Config()][c]; again {
			continue
		}
		blocks[c.Config()][c] = struct{}{}
		if !slices.Contains(d.producers[c], producer) {
			d.producers[c] = append(d.producers[c], producer)
		}
	}
}

// take notes that a consumer has taken the values that it was to get. It returns the objects of which a
// resource has got all that it was owed.
func (d *deliveries) take(consumer addr.Instance) (done []addr.Instance) {
	for _, producer := range d.producers[consumer] {
		left := d.waiting[producer][consumer.Config()]
		if delete(left, consumer); len(left) == 0 {
			done = append(done, producer)
		}
	}
	return done
}

// endDelivered ends the entry of an operation on a consumer of computed values, which has taken them. In the
// same write it strikes the resource out of the records of those who owed it something. The writes follow
// each other, or one could restore what another has struck out.
func (a *applier) endDelivered(entry *journalEntry, consumer addr.Instance, change state.ObjectChange) bool {
	d := &a.deliveries
	if len(d.producers[consumer]) == 0 {
		return entry.end(false, change)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	changes := []state.ObjectChange{change}
	block := consumer.Config()
	for _, producer := range d.take(consumer) {
		a.mu.Lock()
		in := a.state.Instance(producer)
		a.mu.Unlock()
		if in == nil || in.Current == nil {
			continue
		}
		if list, changed := state.Deliver(in.Current.Withheld, &block); changed {
			n := in.Current.Clone()
			n.Withheld = list
			changes = append(changes, state.ObjectChange{Object: addr.Object{Instance: producer}, Provider: in.Provider, New: n})
		}
	}
	return entry.end(false, changes...)
}
