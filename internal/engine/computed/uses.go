// Package computed keeps, for one run, who uses the values that providers compute and that are kept out of
// the state (ADR 033, E96 to E98).
//
// It may import the model. It must not know how a configuration is evaluated or an object is planned: uses
// are noted by others as they are found, and of values it sees the marks alone.
package computed

import (
	"fmt"
	"maps"
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

// Uses has the uses of computed values that are not stored (E96). It is safe for concurrent use.
type Uses struct {
	State *state.State // that the run begins with; nil for none. Set before the first use
	// Readers returns the addresses of blocks that may read computed values of others, by those; nil for
	// none. Set before the first use.
	Readers func() map[addr.ConfigResource][]string

	mu        sync.Mutex
	of        map[string][]Use           // by attribute
	later     map[string][]addr.Instance // users that are left to a later plan, by attribute
	producers map[string]producer        // of the state, by attribute; made at the first use

	taken       map[string]struct{}     // attributes whose values are taken out of the state
	undelivered []*Undelivered          // objects with values that an earlier run did not deliver
	owed        map[string]*Undelivered // the same by attribute
}

// producer is an instance that computed values belong to, with the state's record of one.
type producer struct {
	instance addr.Instance
	record   *state.Withheld // nil if there is none
}

// Use is a use of a computed value: by an argument of a managed resource, or by something else.
type Use struct {
	User     string        // for messages
	When     When          // it needs the value
	Instance addr.Instance // zero for others
	Path     cty.Path      // of the argument
	Withheld bool          // the argument is an ephemeral attribute
	Ignored  bool          // its changes are ignored then
}

// When says in which runs something needs a value.
type When uint8

// The times.
const (
	EveryRun   When = iota
	ThisRun         // and no other, of itself
	Invocation      // this run, which only invokes actions
	Departure       // the run that destroys an object
)

// Add adds a use of a value.
func (u *Uses) Add(of value.Computed, use Use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[string][]Use{}
	}
	u.of[of.By] = append(u.of[of.By], use)
}

// AddCondition adds the use of values by a condition at an address. One that needs a value of an earlier run
// is not checked.
func (u *Uses) AddCondition(address string, made []value.Computed) {
	for _, c := range made {
		if !c.Past {
			u.Add(c, Use{User: "A condition of " + address, When: ThisRun})
		}
	}
}

// AddLater adds an instance that a later plan makes, and that will use the value then.
func (u *Uses) AddLater(of value.Computed, user addr.Instance) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.later == nil {
		u.later = map[string][]addr.Instance{}
	}
	u.later[of.By] = append(u.later[of.By], user)
}

// Later returns the instances of later plans that use the value of an attribute.
func (u *Uses) Later(attribute string) []addr.Instance {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.later[attribute])
}

// Of returns the uses of the value of an attribute so far.
func (u *Uses) Of(attribute string) []Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.of[attribute])
}

// Need notes that something which is configured in every run uses values with these marks. It returns an
// error if one of them cannot be had in this run.
func (u *Uses) Need(user string, of []value.Computed) diag.List {
	return u.Use(Use{User: user}, of)
}

// Use notes a use of values with these marks by something other than an argument of a managed resource. It
// returns an error if one of them cannot be had in this run.
func (u *Uses) Use(by Use, of []value.Computed) diag.List {
	var past []value.Computed
	for _, c := range of {
		if c.Past {
			past = append(past, c)
		} else {
			u.Add(c, by)
		}
	}
	if len(past) == 0 {
		return nil
	}
	return u.Unavailable(by, past)
}

// UseInParts notes the use of values that parts of a configuration are made of. It returns an error, for the
// first such part, if one of them cannot be had in this run.
func (u *Uses) UseInParts(by Use, parts []value.ComputedPart) diag.List {
	var made []value.Computed
	for _, part := range parts {
		if !slices.Contains(made, part.Of) {
			made = append(made, part.Of)
		}
	}
	diags := u.Use(by, made)
	if len(diags) > 0 {
		diags[0].Path = parts[slices.IndexFunc(parts, func(p value.ComputedPart) bool { return p.Of.Past })].Path
	}
	return diags
}

// Unavailable is the error for computed values of earlier runs that a use needs. Where it needs them in every
// run, new values help no longer than the run that makes them.
func (u *Uses) Unavailable(by Use, of []value.Computed) diag.List {
	slices.SortFunc(of, func(a, b value.Computed) int { return strings.Compare(a.By, b.By) })
	var lines, options strings.Builder
	known := map[addr.ConfigResource][]string{} // by producer: the blocks that the text has named
	for _, c := range of {
		from := u.producerOf(c)
		w := from.record
		fmt.Fprintf(&lines, "\n  %s, %s", c.By, madeWhen(w))
		block := from.instance.Config()
		known[block] = append(known[block], by.Instance.Config().String())
		if w != nil {
			known[block] = append(known[block], texts(w.To)...)
		}
		if option := " -replace=" + diag.Argument(from.instance.String()); !strings.Contains(options.String()+" ", option+" ") {
			options.WriteString(option)
		}
	}
	way := "Read them from where they were stored then, or make new ones with the option" + options.String()
	switch by.When {
	case Invocation:
		way = "Read them from where they were stored then. -invoke makes no new ones: for that, have a trigger invoke the action in a run with the option" + options.String()
	case Departure:
		way = "The provisioner can read them from where they were stored then, for instance through an ephemeral resource. Or take it out of the configuration"
	case EveryRun:
		way = "They are needed here in every run, so read them from where they were stored then, for instance with an ephemeral resource"
	}
	return diag.Errorf("Value is no longer available",
		"%s needs values that providers computed in an earlier run:%s\n\nThey are kept out of the state by ephemeral_attributes, so that later runs do not have them.%s %s.",
		by.User, lines.String(), u.otherReaders(known), way)
}

// madeWhen says when a computed value was made, and for whom, as far as its record tells. There may be none.
func madeWhen(w *state.Withheld) string {
	if w == nil {
		return "with no record in the state"
	}
	to, at := Names(w.To), w.At.UTC().Format("2006-01-02 15:04:05 UTC")
	switch {
	case w.Found && to != "":
		return "made before " + at + ", not stored since then, and sent to " + to
	case w.Found:
		return "made before " + at + ", and not stored since then"
	case w.At.IsZero() && to != "":
		return "made for " + to + " at a time that is not known"
	case w.At.IsZero():
		return "made at a time that is not known"
	case to != "":
		return "made at " + at + " for " + to
	}
	return "made at " + at
}

// otherReaders says in sentences which blocks may use values of blocks besides the given ones.
func (u *Uses) otherReaders(known map[addr.ConfigResource][]string) string {
	if u.Readers == nil {
		return ""
	}
	var text strings.Builder
	for _, block := range slices.SortedFunc(maps.Keys(known), func(a, b addr.ConfigResource) int { return strings.Compare(a.String(), b.String()) }) {
		readers := u.Readers()[block]
		if slices.ContainsFunc(readers, func(r string) bool { return !slices.Contains(known[block], r) }) {
			fmt.Fprintf(&text, " In the configuration, values of %s are used by %s.", block, strings.Join(readers, ", "))
		}
	}
	return text.String()
}

// WarnIgnored is the warning about a use of a new value of an attribute by an argument whose changes are
// ignored. maybe is set if the value may stay the same.
func (use Use) WarnIgnored(attribute string, maybe bool) diag.List {
	makes := "makes"
	if maybe {
		makes = "may make"
	}
	return diag.Warnf("New value is not sent where changes are ignored",
		"The plan %s a new value of %s, which %s uses. Changes of its argument %s are ignored, so it keeps the earlier value. To give it the new one, replace it in the same run with the option -replace=%s.",
		makes, attribute, use.Instance, schema.PathString(use.Path), diag.Argument(use.Instance.String())).WithAddress(use.Instance.String())
}

// WarnLater is the warning about a use of the value of an attribute by something that needs it in every run;
// nil for other uses.
func (use Use) WarnLater(attribute string) diag.List {
	if use.When != EveryRun || use.Instance != (addr.Instance{}) {
		return nil
	}
	return diag.Warnf("Later runs do not have a value that they need",
		"%s is made of %s, which exists only in the run that makes it. Later runs need it too, and will end with an error. Store the value where it can be read from, for instance through a write-only argument, and read it from there.", use.User, attribute)
}

// producerOf returns the instance that a computed value belongs to.
func (u *Uses) producerOf(of value.Computed) producer {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.producers == nil && u.State != nil {
		u.producers = map[string]producer{}
		for i, in := range u.State.AllInstances() {
			if in.Current == nil {
				continue
			}
			for k, w := range in.Current.Withheld {
				if w.Computed {
					u.producers[Name(i, w.Path)] = producer{i, &in.Current.Withheld[k]}
				}
			}
		}
	}
	if p, ok := u.producers[of.By]; ok {
		return p
	}
	return producer{instance: namedIn(of.By)}
}

// namedIn returns the instance in the name of an attribute, which Name has made.
func namedIn(attribute string) addr.Instance {
	for at := len(attribute); at > 0; at = strings.LastIndexByte(attribute[:at], '.') {
		if i, err := addr.ParseInstance(attribute[:at]); err == nil {
			return i
		}
	}
	return addr.Instance{}
}

// TakeOut notes that the run takes the value of an attribute out of the state, or imports it and does not
// store it.
func (u *Uses) TakeOut(attribute string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.taken == nil {
		u.taken = map[string]struct{}{}
	}
	u.taken[attribute] = struct{}{}
}

// TakenOut reports whether a computed value is one that TakeOut has noted, and is there.
func (u *Uses) TakenOut(c value.Computed) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, found := u.taken[c.By]
	return found && !c.Past
}

// Name returns the name of an attribute, as marks have it.
func Name(i addr.Instance, path cty.Path) string {
	return i.String() + "." + schema.PathString(path)
}

// Names lists the addresses of resources.
func Names(list []addr.ConfigResource) string { return strings.Join(texts(list), ", ") }

func texts(list []addr.ConfigResource) (out []string) {
	for _, r := range list {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return out
}
