package view

import (
	"fmt"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/plan"
)

// tally counts finished operations the way the closing line does.
type tally struct{ counts plan.Counts }

// following is the state that all observers of a run keep.
type following struct {
	mu    sync.Mutex
	tally tally
	err   error // the first one of writing
}

// Counts returns how many operations have completed, as the end of the output counts them.
func (f *following) Counts() plan.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tally.counts
}

// Err returns the first error of writing, after which lines may be missing.
func (f *following) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// add counts an event if it completes an operation on a managed resource, or an action. A replacement counts
// twice, as one object destroyed and one added.
func (t *tally) add(e event.Event) {
	if e.Op == event.OpInvoke && e.Kind == event.Completed {
		t.counts.Invoke++
	}
	if e.Kind != event.Completed || e.Object.Resource.Mode != addr.Managed {
		return
	}
	switch e.Op {
	case event.OpCreate:
		t.counts.Add++
	case event.OpUpdate:
		t.counts.Change++
	case event.OpDelete:
		t.counts.Destroy++
	case event.OpForget:
		t.counts.Forget++
	case event.OpImport:
		t.counts.Import++
	}
}

// ApplySummary returns the line that ends an apply: the numbers of changes really made. The command destroy
// has a line of its own.
func ApplySummary(n plan.Counts, destroy bool) string {
	if destroy {
		return fmt.Sprintf("Destroy complete! Resources: %d destroyed%s.", n.Destroy, besides(n))
	}
	return "Apply complete! " + Made(n)
}

// Made returns the numbers of changes that were made: "Resources: 1 added, 0 changed, 0 destroyed."
func Made(n plan.Counts) string {
	imported, invoked := "", ""
	if n.Invoke > 0 {
		invoked = fmt.Sprintf(" Actions: %d invoked.", n.Invoke)
	}
	if n.Import > 0 {
		imported = fmt.Sprintf("%d imported, ", n.Import)
	}
	return fmt.Sprintf("Resources: %s%d added, %d changed, %d destroyed%s.%s", imported, n.Add, n.Change, n.Destroy, besides(n), invoked)
}

// besides returns the numbers that are not in every line.
func besides(n plan.Counts) (text string) {
	if n.Forget > 0 {
		text = fmt.Sprintf(", %d forgotten", n.Forget)
	}
	if n.Defer > 0 {
		text += fmt.Sprintf(", %d deferred", n.Defer)
	}
	return text
}

// wording has the words for an operation: when it starts, while it lasts and when it has ended. An empty text
// is not shown.
type wording struct{ start, still, complete string }

// wordings are the phases that people see (E80). Scripts that watch a run match them.
var wordings = map[event.Op]wording{
	event.OpRead:   {"Reading...", "Still reading...", "Read complete"},
	event.OpCreate: {"Creating...", "Still creating...", "Creation complete"},
	event.OpUpdate: {"Modifying...", "Still modifying...", "Modifications complete"},
	event.OpDelete: {"Destroying...", "Still destroying...", "Destruction complete"},
	event.OpForget: {"", "", "Removal from the state complete"},
	event.OpAdopt:  {"Importing...", "", "Import complete"},
	event.OpOpen:   {"Opening...", "Still opening...", "Opening complete"},
	event.OpRenew:  {"Renewing...", "Still renewing...", "Renewal complete"},
	event.OpClose:  {"Closing...", "Still closing...", "Closing complete"},
	event.OpInvoke: {"Invoking...", "Still invoking...", "Invocation complete"},
}

// phrase returns the text of an event after the object's name, "" for events that people don't see.
// Failures are reported as diagnostics instead.
func phrase(e event.Event) string {
	w := wordings[e.Op]
	switch {
	case e.Op == event.OpProvision:
		if e.Kind == event.Started {
			return "Provisioning with '" + visible(e.Provisioner) + "'..."
		}
	case e.Op == event.OpRefresh:
		if e.Kind == event.Started {
			return "Refreshing state..." + idText(e)
		}
	case e.Op == event.OpImport:
		if e.Kind == event.Started {
			return "Preparing import..." + idText(e)
		}
	case e.Kind == event.Deferred:
		return "Configuration unknown, deferring..."
	case e.Kind == event.PutOff:
		return failure(e.Op) + " deferred by the provider after " + seconds(e.Elapsed)
	case e.Kind == event.Started && e.Trigger != nil:
		return w.start + " [" + string(e.Trigger.Event) + " of " + e.Trigger.Resource.String() + "]"
	case e.Kind == event.Started && w.start != "":
		return w.start + idText(e)
	case e.Kind == event.Progress && w.still != "":
		return w.still + " [" + idPart(e, ", ") + seconds(e.Elapsed) + " elapsed]"
	case e.Kind == event.Completed && e.Op == event.OpAdopt: // adopting takes no time
		return w.complete + idText(e)
	case e.Kind == event.Completed && e.Op == event.OpDelete: // the id no longer exists
		return w.complete + " after " + seconds(e.Elapsed)
	case e.Kind == event.Completed && w.complete != "":
		return w.complete + " after " + seconds(e.Elapsed) + idText(e)
	}
	return ""
}

// idText returns the object's ID in brackets after a space; "" if it has none yet.
func idText(e event.Event) string {
	if id := idPart(e, ""); id != "" {
		return " [" + id + "]"
	}
	return ""
}

// idPart returns the object's ID, as in id=i-123, followed by end; "" if it has none yet.
func idPart(e event.Event, end string) string {
	if e.IDKey == "" {
		return ""
	}
	return e.IDKey + "=" + visible(e.ID) + end
}

// seconds returns a duration in whole seconds, as in 1m5s.
func seconds(d time.Duration) string { return d.Truncate(time.Second).String() }
