package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// StateDiff has the differences between two states.
type StateDiff struct {
	Objects []ObjectDiff // in the order of addresses
	Outputs []OutputDiff // by name
}

// ObjectDiff is an object that only one of two states has, or that differs between them. An object that was
// moved has different addresses on both sides.
type ObjectDiff struct {
	Before, After *Object // nil for a state that lacks it; with a schema that fits both, or none
	// Action is Create, Delete or Update, or NoOp if only the address differs.
	Action plan.Action
	// Records are the parts of its record that differ beside its attributes, such as "provider".
	Records []string
}

// OutputDiff is an output that differs. A side that lacks it is cty.NilVal.
type OutputDiff struct {
	Name          string
	Before, After cty.Value
	Sensitive     bool
	Action        plan.Action
}

// object returns the object that a difference is named after.
func (d ObjectDiff) object() *Object { return cmp.Or(d.After, d.Before) }

// Addr returns the address that a difference is named after: the new one of an object that was moved.
func (d ObjectDiff) Addr() addr.Object { return d.object().Addr }

// Moved reports whether the object has another address in the second state.
func (d ObjectDiff) Moved() bool {
	return d.Before != nil && d.After != nil && d.Before.Addr != d.After.Addr
}

// Schema returns the schema of the object, nil if it is unknown.
func (d ObjectDiff) Schema() *schema.Block {
	if s := d.object().Schema; s != nil {
		return s.Block
	}
	return nil
}

// Values returns both sides, cty.NilVal for one that is missing.
func (d ObjectDiff) Values() (before, after cty.Value) {
	if d.Before != nil {
		before = d.Before.Value
	}
	if d.After != nil {
		after = d.After.Value
	}
	return before, after
}

// Empty reports whether there is no difference.
func (d *StateDiff) Empty() bool { return len(d.Objects)+len(d.Outputs) == 0 }

// CompareStates compares two states; nil stands for one without content. Objects that are stored alike are
// not decoded. An object that only the first state has, and one of the same type that only the second has,
// count as one that was moved if they have the same attribute "id" and no other object of the type has it. An
// error names the object or output that cannot be decoded. s may be nil.
func CompareStates(before, after *state.State, s Schemas) (*StateDiff, error) {
	before, after = cmp.Or(before, &state.State{}), cmp.Or(after, &state.State{})
	out := &StateDiff{}
	var gone, added []side
	for a, inst := range before.AllInstances() {
		for key, obj := range objectsOf(inst) {
			at := addr.Object{Instance: a, Deposed: key}
			was := side{at, inst, obj}
			is := side{at, after.Instance(a), after.Object(at)}
			if is.obj == nil {
				gone = append(gone, was)
			} else if err := out.compare(was, is, s); err != nil {
				return nil, err
			}
		}
	}
	for a, inst := range after.AllInstances() {
		for key, obj := range objectsOf(inst) {
			if at := (addr.Object{Instance: a, Deposed: key}); before.Object(at) == nil {
				added = append(added, side{at, inst, obj})
			}
		}
	}
	if err := out.pair(gone, added, s); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.Objects, func(a, b ObjectDiff) int {
		x, y := a.Addr(), b.Addr()
		return cmp.Or(x.Instance.Compare(y.Instance), cmp.Compare(x.Deposed, y.Deposed))
	})
	return out, out.outputs(before.Outputs, after.Outputs)
}

// side is an object in one of the states.
type side struct {
	at   addr.Object
	inst *state.Instance
	obj  *state.Object
}

// objectsOf returns the objects of an instance by their keys.
func objectsOf(inst *state.Instance) map[addr.Deposed]*state.Object {
	out := maps.Clone(inst.Deposed)
	if inst.Current != nil {
		if out == nil {
			out = map[addr.Deposed]*state.Object{}
		}
		out[addr.Current] = inst.Current
	}
	return out
}

// decode decodes the object of a side.
func (d side) decode(s Schemas) (*Object, error) {
	o, err := decodeObject(d.at, d.inst.Provider.Provider, d.obj, s)
	return &o, err
}

// identity is the same before and after an object moves.
type identity struct {
	mode addr.Mode
	typ  string
	id   string
}

// identify returns the identity of a side, and whether it has one.
func (d side) identify() (identity, bool) {
	r := d.at.Instance.Resource
	id := d.obj.ID()
	return identity{r.Mode, r.Type, id}, id != "" && r.Mode == addr.Managed && d.at.Deposed == addr.Current
}

// pair adds the objects that only one state has, those that were moved as one difference.
func (d *StateDiff) pair(gone, added []side, s Schemas) error {
	was, is := map[identity][]side{}, map[identity][]side{}
	for _, list := range []struct {
		sides []side
		by    map[identity][]side
	}{{gone, was}, {added, is}} {
		for _, one := range list.sides {
			if id, ok := one.identify(); ok {
				list.by[id] = append(list.by[id], one)
			}
		}
	}
	moved := func(one side) bool {
		id, ok := one.identify()
		return ok && len(was[id]) == 1 && len(is[id]) == 1
	}
	for _, one := range gone {
		if moved(one) {
			id, _ := one.identify()
			if err := d.compare(one, is[id][0], s); err != nil {
				return err
			}
			continue
		}
		o, err := one.decode(s)
		if err != nil {
			return err
		}
		d.Objects = append(d.Objects, ObjectDiff{Before: o, Action: plan.Delete})
	}
	for _, one := range added {
		if moved(one) {
			continue
		}
		o, err := one.decode(s)
		if err != nil {
			return err
		}
		d.Objects = append(d.Objects, ObjectDiff{After: o, Action: plan.Create})
	}
	return nil
}

// compare adds the difference between two objects, if there is one.
func (d *StateDiff) compare(was, is side, s Schemas) error {
	if was.at == is.at && was.inst.Provider == is.inst.Provider && was.obj.Equal(is.obj) {
		return nil
	}
	b, err := was.decode(s)
	if err != nil {
		return err
	}
	a, err := is.decode(s)
	if err != nil {
		return err
	}
	diff := ObjectDiff{Before: b, After: a, Action: plan.NoOp, Records: records(was, is)}
	if (b.Schema == nil) != (a.Schema == nil) { // values of different types are compared by their own
		b.Schema, a.Schema = nil, nil
	}
	if !sameValue(b.Value, a.Value) || len(diff.Records) > 0 {
		diff.Action = plan.Update
	}
	if diff.Action != plan.NoOp || diff.Moved() {
		d.Objects = append(d.Objects, diff)
	}
	return nil
}

// sameValue reports whether two values are equal, apart from marks.
func sameValue(b, a cty.Value) bool {
	if b == cty.NilVal || a == cty.NilVal {
		return b == a
	}
	b, _ = b.UnmarkDeep()
	a, _ = a.UnmarkDeep()
	return a.RawEquals(b)
}

// records returns the parts in which the records of two objects differ, beside attributes and addresses.
func records(was, is side) []string {
	var out []string
	note := func(name string, differs bool) {
		if differs {
			out = append(out, name)
		}
	}
	b, a := was.obj, is.obj
	note("provider", was.inst.Provider != is.inst.Provider)
	note("tainted", b.Tainted != a.Tainted)
	note("schema_version", b.SchemaVersion != a.SchemaVersion)
	note("sensitive_attributes", !slices.EqualFunc(b.Sensitive, a.Sensitive, cty.Path.Equals))
	note("dependencies", !slices.Equal(b.Dependencies, a.Dependencies))
	note("create_before_destroy", b.CreateBeforeDestroy != a.CreateBeforeDestroy)
	note("skip_destroy", b.SkipDestroy != a.SkipDestroy)
	note("ephemeral_attributes", !slices.EqualFunc(b.Withheld, a.Withheld, state.Withheld.Equal))
	note("private", string(b.Private) != string(a.Private))
	note("identity", string(b.Identity) != string(a.Identity) || b.IdentityVersion != a.IdentityVersion)
	return out
}

// outputs adds the outputs that differ.
func (d *StateDiff) outputs(before, after map[string]*state.Output) error {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]*state.Output{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		diff := OutputDiff{Name: name, Action: plan.Update}
		for _, one := range []struct {
			out *state.Output
			to  *cty.Value
			not plan.Action
		}{{before[name], &diff.Before, plan.Create}, {after[name], &diff.After, plan.Delete}} {
			if one.out == nil {
				diff.Action = one.not
				continue
			}
			v, err := one.out.Value.Live()
			if err != nil {
				return fmt.Errorf("output.%s: %w", name, err)
			}
			*one.to = v
			diff.Sensitive = diff.Sensitive || one.out.Sensitive || value.Contains(v, value.Sensitive)
		}
		if diff.Action != plan.Update || !sameValue(diff.Before, diff.After) {
			d.Outputs = append(d.Outputs, diff)
		}
	}
	return nil
}

// jsonStateDiff is the document of a difference.
type jsonStateDiff struct {
	FormatVersion   string                `json:"format_version"`
	Before          *jsonStateVersion     `json:"before"`
	After           *jsonStateVersion     `json:"after"`
	ResourceChanges []jsonObjectDiff      `json:"resource_changes"`
	OutputChanges   map[string]jsonChange `json:"output_changes"`
}

// jsonStateVersion says which state a side is, null for one without content.
type jsonStateVersion struct {
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
}

// jsonObjectDiff is one object, in the form that plans have.
type jsonObjectDiff struct {
	jsonChangeOf
	Records []string `json:"record_changes,omitempty"`
}

// StateDiffOf returns the document of a difference on one line. Sensitive values are in it, as in a plan's
// document, with members that say where. before and after are the files compared; nil for none.
func StateDiffOf(d *StateDiff, before, after *state.File) ([]byte, error) {
	version := func(f *state.File) *jsonStateVersion {
		if f == nil {
			return nil
		}
		return &jsonStateVersion{f.Lineage, f.Serial}
	}
	doc := jsonStateDiff{FormatVersion: "1.0", Before: version(before), After: version(after), ResourceChanges: []jsonObjectDiff{}, OutputChanges: map[string]jsonChange{}}
	for _, o := range d.Objects {
		b, a := o.Values()
		at, of := o.Addr(), o.object()
		one := jsonChangeOf{
			Address: at.Instance.String(), ModuleAddress: at.Instance.Module.String(), jsonInstance: instanceJSON(at.Instance, of.Provider),
			Deposed: string(at.Deposed), Change: sidesJSON(b, a, actionsJSON(o.Action)),
		}
		if o.Moved() {
			one.PreviousAddress = o.Before.Addr.Instance.String()
		}
		doc.ResourceChanges = append(doc.ResourceChanges, jsonObjectDiff{one, o.Records})
	}
	for _, o := range d.Outputs {
		c := sidesJSON(o.Before, o.After, actionsJSON(o.Action))
		if o.Sensitive {
			c.BeforeSensitive, c.AfterSensitive = json.RawMessage("true"), json.RawMessage("true")
		}
		doc.OutputChanges[o.Name] = c
	}
	return json.Marshal(doc)
}
