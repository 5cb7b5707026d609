package engine

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// Operation is what an event is about.
type Operation string

// The operations that events report.
const (
	OpRefresh   Operation = "refresh"   // reading a managed object
	OpRead      Operation = "read"      // reading a data source
	OpCreate    Operation = "create"    //
	OpUpdate    Operation = "update"    //
	OpDelete    Operation = "delete"    //
	OpForget    Operation = "forget"    //
	OpImport    Operation = "import"    //
	OpOpen      Operation = "open"      // of an ephemeral instance
	OpRenew     Operation = "renew"     //
	OpClose     Operation = "close"     //
	OpProvision Operation = "provision" // one provisioner
)

// EventKind is the moment in an operation's life.
type EventKind uint8

// The kinds of events.
const (
	Started  EventKind = iota
	Progress           // still running
	Output             // a line of a provisioner's output
	Completed
	Failed
	Deferred // an ephemeral instance that is not opened in this walk
)

// Event is one thing that happened. It never carries a value that is sensitive or ephemeral.
type Event struct {
	Time    time.Time
	Kind    EventKind
	Op      Operation
	Object  addr.Object
	Action  plan.Action   // of the change that the operation is part of
	Elapsed time.Duration // since Started
	// ID is the identifying attribute to show: key (usually "id") and value; both empty if there is none or it is sensitive.
	IDKey, ID   string
	Provisioner string // type of the provisioner
	Line        string // Output only
	Diags       diag.List
}

// Observer receives events. Calls are serialised by the engine, in the order in which things happened; an Observer must return quickly.
type Observer interface {
	Event(e Event)
}

// ObserverFunc adapts a function to Observer.
type ObserverFunc func(Event)

// Event calls f.
func (f ObserverFunc) Event(e Event) { f(e) }
