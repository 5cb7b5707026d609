// Package plan is the model of a plan: the changes with their reasons, and Steps, the pure function that
// orders them for apply.
//
// It may import addr, diag, value, schema and state. It must not know configuration, evaluation or providers'
// processes: a plan is data.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Mode is the kind of plan.
type Mode uint8

// The plan modes. Destroy plans the destruction of everything; RefreshOnly only takes over changes made
// outside.
const (
	Normal Mode = iota
	Destroy
	RefreshOnly
)

// Action is the effect of a change on one object.
type Action uint8

// The actions.
const (
	NoOp Action = iota
	Create
	Read // a data source read during apply
	Update
	Delete
	DeleteThenCreate
	CreateThenDelete
	Forget           // removed from the state without being destroyed
	ForgetThenCreate // replaced by a new object; the old one is not destroyed
)

// String returns the name used in messages: "no-op", "create", ...
func (a Action) String() string {
	return [...]string{"no-op", "create", "read", "update", "delete", "delete-create", "create-delete", "forget", "forget-create"}[a]
}

// IsReplace reports whether the action is a replacement, in either order or without destroying.
func (a Action) IsReplace() bool { return a.DestroysReplaced() || a == ForgetThenCreate }

// DestroysReplaced reports whether the action is a replacement that destroys the old object.
func (a Action) DestroysReplaced() bool { return a == DeleteThenCreate || a == CreateThenDelete }

// Reason explains an action where its kind alone does not. The JSON plan format has the same values.
type Reason string

// The reasons.
const (
	NoReason            Reason = ""
	ReplaceTainted      Reason = "replace_because_tainted"
	ReplaceRequested    Reason = "replace_by_request"
	ReplaceTriggered    Reason = "replace_by_triggers"
	ReplaceCannotUpdate Reason = "replace_because_cannot_update"
	DeleteNoConfig      Reason = "delete_because_no_resource_config"
	DeleteRepetition    Reason = "delete_because_wrong_repetition"
	DeleteCountIndex    Reason = "delete_because_count_index"
	DeleteEachKey       Reason = "delete_because_each_key"
	DeleteNoModule      Reason = "delete_because_no_module"
	DeleteNoMoveTarget  Reason = "delete_because_no_move_target"
	DeleteDisabled      Reason = "delete_because_enabled_false"
	ForgetInConfig      Reason = "forgot_because_lifecycle_destroy_in_config"
	ForgetInState       Reason = "forgot_because_lifecycle_destroy_in_state"
	ReadConfigUnknown   Reason = "read_because_config_unknown"
	ReadDependency      Reason = "read_because_dependency_pending"
	ReadCheckNested     Reason = "read_because_check_nested"
)

// Change is one planned change of one object. Before and After cannot contain an ephemeral value, because
// of their type. A change is immutable once its plan is complete.
type Change struct {
	Addr     addr.Instance
	Deposed  addr.Deposed
	PrevAddr addr.Instance // differs from Addr if the object was moved
	Provider addr.ProviderConfig

	Action          Action
	Reason          Reason
	RequiredReplace []cty.Path // attributes that force the replacement

	Before          value.Durable // null or zero when creating
	After           value.Durable // null or zero when deleting; may have unknown parts
	PriorPrivate    []byte
	PlannedPrivate  []byte
	PriorIdentity   value.Durable
	PlannedIdentity value.Durable
	SchemaVersion   int64

	// Deps is the read-set of the instance's configuration, with the precision of the references.
	Deps []Dep
	// StateDeps are the dependencies recorded with the prior object; they order its destruction.
	StateDeps []addr.ConfigResource
	// CreateBeforeDestroy is the object's order of replacement, from configuration, dependents or state.
	CreateBeforeDestroy bool
	// KeepsReplaced says that a replacement that creates first leaves the old object, deposed, to a later
	// plan, because something deferred depends on it.
	KeepsReplaced bool

	Importing       *Importing
	GeneratedConfig string // generated configuration for an imported object; "" if none

	// Withheld are the attributes whose values are kept out of the plan and the state: Before and After have
	// null there.
	Withheld []Withheld

	// Given is the keyed hash of the configuration of an object that stays as it is; zero for none.
	Given state.Hash
}

// Withheld is an attribute whose value is kept out of the plan, with the knowledge about it.
type Withheld struct {
	Path     cty.Path
	Status   WithheldStatus
	Computed bool // the provider gives the value
	// Consumers are the instances that take a new computed value in the same apply, in no particular order.
	Consumers []addr.Instance
	// Missed are the instances that use the computed value and do not take it in the same apply, in no
	// particular order. They miss a new one, if an update makes one.
	Missed []addr.Instance
}

// Restores reports whether the apply changes the record of the value in the state, although the value stays.
func (w Withheld) Restores() bool {
	return w.Status.Restores() || w.Computed && w.Status == WithheldRemoved
}

// WithheldStatus says how a value that is kept out of the plan compares with the value before the change.
type WithheldStatus string

// The statuses.
const (
	WithheldSame         WithheldStatus = "same"
	WithheldNew          WithheldStatus = "new" // there was none
	WithheldChanged      WithheldStatus = "changed"
	WithheldUnknown      WithheldStatus = "unknown" // it is known after the apply
	WithheldIncomparable WithheldStatus = "incomparable"
	WithheldAssumed      WithheldStatus = "assumed"  // the same, as the user says, since it is incomparable
	WithheldVersion      WithheldStatus = "version"  // the same, with another version
	WithheldStored       WithheldStatus = "stored"   // the same, and the state still has it, until the apply
	WithheldReleased     WithheldStatus = "released" // the same, and the state has it from the apply on
	WithheldImported     WithheldStatus = "imported" // the same as in the imported object; the state has no record yet
	WithheldRemoved      WithheldStatus = "removed"  // there is none any more
)

// Restores reports whether the apply changes the stored value in the state, although the value stays.
func (s WithheldStatus) Restores() bool {
	switch s {
	case WithheldStored, WithheldReleased, WithheldAssumed, WithheldVersion, WithheldImported:
		return true
	}
	return false
}

// Differs reports whether the object gets another value, as far as that is known.
func (s WithheldStatus) Differs() bool {
	return s == WithheldNew || s == WithheldChanged || s == WithheldUnknown || s == WithheldIncomparable
}

// Moved reports whether the object comes from another address.
func (c *Change) Moved() bool { return c.PrevAddr != (addr.Instance{}) && c.PrevAddr != c.Addr }

// Object returns the object that the change is about.
func (c *Change) Object() addr.Object { return addr.Object{Instance: c.Addr, Deposed: c.Deposed} }

// Sides decodes the objects before and after the change; cty.NilVal stands for none. An error names the
// object.
func (c *Change) Sides() (before, after cty.Value, err error) {
	if before, after, err = sides(c.Before, c.After); err != nil {
		err = fmt.Errorf("%s: %w", c.Object(), err)
	}
	return before, after, err
}

// sides decodes two stored values. The zero Durable gives cty.NilVal.
func sides(b, a value.Durable) (before, after cty.Value, err error) {
	if before, err = b.Live(); err == nil {
		after, err = a.Live()
	}
	return before, after, err
}

// Importing identifies the existing object that is imported.
type Importing struct {
	ID       string
	Identity value.Durable
}

// OutputChange is the planned change of a root module output.
type OutputChange struct {
	Name      string
	Action    Action // NoOp, Create, Update or Delete
	Before    value.Durable
	After     value.Durable
	Sensitive bool
	Deps      []Dep // dependencies of its value and its conditions
}

// Sides decodes the values before and after the change; cty.NilVal stands for none. An error names the
// output.
func (c *OutputChange) Sides() (before, after cty.Value, err error) {
	if before, after, err = sides(c.Before, c.After); err != nil {
		err = fmt.Errorf("output.%s: %w", c.Name, err)
	}
	return before, after, err
}

// Plan is a complete plan. Apply obeys it, and changes nothing else.
type Plan struct {
	Mode Mode
	// Changes has every object that was planned, NoOp included, ordered by address. None is of an ephemeral
	// instance: they leave no trace in a plan.
	Changes []*Change
	Drift   []*Change // changes found by refreshing; Before is the stored object, After the real one
	Outputs []*OutputChange
	// Invocations are the actions to be invoked, in order for each resource. They are all triggered by
	// changes, or all asked for by the user; in the second case, the plan has no changes.
	Invocations []*Invocation
	Checks      []state.CheckResult
	// Deferrals are the instances and blocks that the plan leaves to a later one, ordered by address. Apply
	// leaves them alone.
	Deferrals []*Deferral

	Base  *state.State // the state as it was read
	Prior *state.State // Base after upgrades, moves and refreshing: the start of the changes
	// Adopted are the rows of Prior that differ from the stored ones. An apply records them before it begins.
	Adopted []state.ObjectChange
	Meta    state.Meta
	// Scope has the claims of applying the plan and the rows that it relies on; nil for a state that one run
	// at a time may change.
	Scope *state.Scope
	// Extent says how far a plan of changes has gone; nil for other plans.
	Extent *Extent
	// Settling has the units that an apply may settle; nil if it settles none.
	Settling *Settling
	// Reads are the objects that were refreshed; nil for a store that does not note it.
	Reads *state.Reads

	Variables          map[string]value.Durable // values set for root variables, except ephemeral ones
	EphemeralVariables []string                 // names of ephemeral variables that were set

	Targets, Excludes []addr.Target
	ForceReplace      []addr.Instance
	SkipRefresh       bool
	// LazyEphemeral reports that ephemeral resources needed only for write-only arguments were not opened,
	// and that applying opens them only for changes.
	LazyEphemeral bool
	// LeakPolicy is the treatment of ephemeral values in answers of providers, also when the plan is applied.
	LeakPolicy leak.Policy
	Timestamp  time.Time
	// Errored is set if planning ended with errors: the plan can be shown but not applied.
	Errored bool
}

// Complete reports whether the plan leaves nothing to a later one.
func (p *Plan) Complete() bool { return len(p.Deferrals) == 0 }

// Changed reports whether applying the plan would do anything: whether there is a change other than NoOp, a
// change of an output, an invocation of an action or, in refresh-only mode, a change found by refreshing.
func (p *Plan) Changed() bool {
	return slices.ContainsFunc(p.Changes, func(c *Change) bool { return c.Action != NoOp || c.Moved() || c.Importing != nil }) ||
		slices.ContainsFunc(p.Outputs, func(o *OutputChange) bool { return o.Action != NoOp }) ||
		p.Mode == RefreshOnly && len(p.Drift) > 0 || len(p.Invocations) > 0
}

// Rows returns how many objects and outputs the plan changes.
func (p *Plan) Rows() (n int) {
	for _, c := range p.Changes {
		if c.Action != NoOp {
			n++
		}
	}
	for _, c := range p.Outputs {
		if c.Action != NoOp {
			n++
		}
	}
	return n
}

// RemovesData reports whether applying a destroy plan removes data source results from the state, for which
// there are no changes.
func (p *Plan) RemovesData() bool {
	if p.Mode != Destroy || p.Base == nil || p.Prior == nil {
		return false
	}
	for a := range p.Base.AllInstances() {
		if a.Resource.Mode == addr.Data && p.Prior.Instance(a) == nil {
			return true
		}
	}
	return false
}

// SensitiveOutput reports whether an output is sensitive before or after its change: a value that was secret
// may still be in use.
func (p *Plan) SensitiveOutput(c *OutputChange) bool {
	if c.Sensitive || p.Base == nil {
		return c.Sensitive
	}
	before := p.Base.Outputs[c.Name]
	return before != nil && before.Sensitive
}

// Compare orders changes by address; deposed objects follow the current one of their instance.
func (c *Change) Compare(o *Change) int {
	if n := c.Addr.Compare(o.Addr); n != 0 {
		return n
	}
	return cmp.Compare(c.Deposed, o.Deposed)
}

// Counts are the numbers of the summary line.
type Counts struct{ Import, Add, Change, Destroy, Forget, Invoke, Defer int }

// Counts counts the planned changes for the summary line: a replacement is one addition and one
// destruction.
func (p *Plan) Counts() Counts {
	n := Counts{Invoke: len(p.Invocations), Defer: len(p.Deferrals)}
	for _, c := range p.Changes {
		if c.Importing != nil {
			n.Import++
		}
		if c.Addr.Resource.Mode != addr.Managed {
			continue
		}
		switch c.Action {
		case Create:
			n.Add++
		case Update:
			n.Change++
		case Delete:
			n.Destroy++
		case DeleteThenCreate, CreateThenDelete:
			n.Add++
			if !c.KeepsReplaced {
				n.Destroy++
			}
		case Forget:
			n.Forget++
		case ForgetThenCreate:
			n.Add++
			n.Forget++
		}
	}
	return n
}
