package view

import (
	"fmt"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/engine"
	"github.com/mayfly-iac/mayfly/plan"
)

// tally counts finished operations the way the closing line does.
type tally struct{ counts plan.Counts }

func (t *tally) add(e engine.Event) {
	if e.Kind != engine.Completed || e.Object.Resource.Mode != addr.Managed {
		return
	}
	switch e.Op {
	case engine.OpCreate:
		t.counts.Add++
	case engine.OpUpdate:
		t.counts.Change++
	case engine.OpDelete:
		t.counts.Destroy++
	case engine.OpForget:
		t.counts.Forget++
	case engine.OpImport:
		t.counts.Import++
	}
}

// ApplySummary returns the closing line of an apply, or of a destroy, without colour or line end.
func ApplySummary(n plan.Counts, destroy bool) string {
	forgotten := ""
	if n.Forget > 0 {
		forgotten = fmt.Sprintf(", %d forgotten", n.Forget)
	}
	if destroy {
		return fmt.Sprintf("Destroy complete! Resources: %d destroyed%s.", n.Destroy, forgotten)
	}
	imported := ""
	if n.Import > 0 {
		imported = fmt.Sprintf("%d imported, ", n.Import)
	}
	return fmt.Sprintf("Apply complete! Resources: %s%d added, %d changed, %d destroyed%s.", imported, n.Add, n.Change, n.Destroy, forgotten)
}

// wording is how an operation is told.
type wording struct{ start, still, complete string }

var wordings = map[engine.Operation]wording{
	engine.OpRead:   {"Reading...", "Still reading...", "Read complete"},
	engine.OpCreate: {"Creating...", "Still creating...", "Creation complete"},
	engine.OpUpdate: {"Modifying...", "Still modifying...", "Modifications complete"},
	engine.OpDelete: {"Destroying...", "Still destroying...", "Destruction complete"},
	engine.OpForget: {"", "", "Removal from the state complete"},
	engine.OpAdopt:  {"Importing...", "", "Import complete"},
	engine.OpOpen:   {"Opening...", "Still opening...", "Opening complete"},
	engine.OpRenew:  {"Renewing...", "Still renewing...", "Renewal complete"},
	engine.OpClose:  {"Closing...", "Still closing...", "Closing complete"},
}

// phrase returns what an event says after the object's name, "" for events that people aren't told of.
// Failures are told by their diagnostics.
func phrase(e engine.Event) string {
	w := wordings[e.Op]
	switch {
	case e.Op == engine.OpProvision:
		if e.Kind == engine.Started {
			return "Provisioning with '" + visible(e.Provisioner) + "'..."
		}
	case e.Op == engine.OpRefresh:
		if e.Kind == engine.Started {
			return "Refreshing state..." + idText(e)
		}
	case e.Op == engine.OpImport:
		if e.Kind == engine.Started {
			return "Preparing import..." + idText(e)
		}
	case e.Kind == engine.Deferred:
		return "Configuration unknown, deferring..."
	case e.Kind == engine.Started && w.start != "":
		return w.start + idText(e)
	case e.Kind == engine.Progress && w.still != "":
		return w.still + " [" + idPart(e, ", ") + seconds(e.Elapsed) + " elapsed]"
	case e.Kind == engine.Completed && e.Op == engine.OpAdopt: // which takes no time
		return w.complete + idText(e)
	case e.Kind == engine.Completed && e.Op == engine.OpDelete: // there is nothing of that id any more
		return w.complete + " after " + seconds(e.Elapsed)
	case e.Kind == engine.Completed && w.complete != "":
		return w.complete + " after " + seconds(e.Elapsed) + idText(e)
	}
	return ""
}

func idText(e engine.Event) string {
	if id := idPart(e, ""); id != "" {
		return " [" + id + "]"
	}
	return ""
}

func idPart(e engine.Event, end string) string {
	if e.IDKey == "" {
		return ""
	}
	return e.IDKey + "=" + visible(e.ID) + end
}

func seconds(d time.Duration) string { return d.Truncate(time.Second).String() }
