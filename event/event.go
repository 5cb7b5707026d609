package event

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// Op is the operation that an event is about.
type Op string

// The operations that events report.
const (
	OpRefresh   Op = "refresh"   // reading a managed object
	OpRead      Op = "read"      // reading a data source
	OpCreate    Op = "create"    //
	OpUpdate    Op = "update"    //
	OpDelete    Op = "delete"    //
	OpForget    Op = "forget"    //
	OpImport    Op = "import"    // getting the object that is to be imported
	OpAdopt     Op = "adopt"     // recording an imported object in the state
	OpOpen      Op = "open"      // of an ephemeral instance
	OpRenew     Op = "renew"     //
	OpClose     Op = "close"     //
	OpProvision Op = "provision" // one provisioner
	OpInvoke    Op = "invoke"    // of an action
)

// The operations that only a DetailObserver receives.
const (
	OpPlanning  Op = "planning"  // a whole plan; without Object
	OpApplying  Op = "applying"  // a whole apply; without Object
	OpInterrupt Op = "interrupt" // from now on nothing new is started; without Object
	OpPlan      Op = "plan"      // everything that planning one object takes
	OpUse       Op = "use"       // User holds a lease on Object or Provider
	OpConfigure Op = "configure" // UserOp of a provider that was configured from ephemeral values, until its process ends
	OpEvaluate  Op = "evaluate"  // UserOp of outputs, variables and conditions
)

// Kind is the moment in an operation's life.
type Kind uint8

// The kinds of events.
const (
	Started  Kind = iota
	Progress      // still running
	Output        // a line of a provisioner's output, or a message about the progress of an action
	Completed
	Failed
	Deferred // an ephemeral instance that is not opened in this walk, since its configuration is not known
	PutOff   // ended without a result, because the provider has put it off
)

// Event is one thing that happened. It never carries a value that is sensitive or ephemeral.
type Event struct {
	Time    time.Time
	Kind    Kind
	Op      Op
	Object  addr.Object
	Action  plan.Action   // of the change that the operation is part of
	Elapsed time.Duration // since Started
	// ID is the identifying attribute to show: key (usually "id") and value; both empty if there is none or
	// it is sensitive.
	IDKey, ID   string
	Provisioner string // type of the provisioner
	Line        string // Output only
	Diags       diag.List
	// Trigger is the cause of an OpInvoke, nil if the user asked for the action.
	Trigger *plan.ActionTrigger

	// The rest is for OpUse. Either Object is an ephemeral instance, or Provider is the address of a provider
	// configuration whose values come from ephemeral instances. An instance that was deferred is used too,
	// although it is not open.
	Provider string
	User     string // the address of the object, provider configuration, output or variable
	UserOp   Op     // the user's operation; for another ephemeral instance OpOpen, until that one is closed
}

// Observer receives events. Calls are serialised by the engine, in the order in which things happened, and
// come later. An Observer may be slow: work under way doesn't wait for it, but after some thousands of events
// nothing new is begun before it has caught up.
type Observer interface {
	Event(e Event)
}

// DetailObserver is an Observer that also receives the uses of open things, and planning object by object. A
// run without one spends nothing on that.
type DetailObserver interface {
	Observer
	// Detail receives the events of the operations that are for a DetailObserver only. Calls are serialised
	// with calls of Event.
	Detail(e Event)
}

// Observers returns an observer that passes every event on to each of the given ones, in their order. Nil
// ones are left out.
func Observers(list ...Observer) Observer {
	out, detailed := observers{}, detailObservers{}
	for _, o := range list {
		if o == nil {
			continue
		}
		out = append(out, o)
		if d, ok := o.(DetailObserver); ok {
			detailed.details = append(detailed.details, d)
		}
	}
	if len(detailed.details) == 0 {
		return out
	}
	detailed.observers = out
	return detailed
}

type observers []Observer

// Event implements Observer.
func (list observers) Event(e Event) {
	for _, o := range list {
		o.Event(e)
	}
}

type detailObservers struct {
	observers
	details []DetailObserver
}

// Detail implements DetailObserver.
func (d detailObservers) Detail(e Event) {
	for _, o := range d.details {
		o.Detail(e)
	}
}

// ObserverFunc adapts a function to Observer.
type ObserverFunc func(Event)

// Event calls f.
func (f ObserverFunc) Event(e Event) { f(e) }
