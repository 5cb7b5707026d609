package view

import (
	"fmt"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// Activity knows the current work of a command: the spans that have begun and not ended. It is safe for
// concurrent use.
type Activity struct {
	mu     sync.Mutex
	active map[trace.ID]*trace.Span
	done   int // objects since the plan began
}

// NewActivity returns an activity of nothing.
func NewActivity() *Activity { return &Activity{active: map[trace.ID]*trace.Span{}} }

// Began notes that a span has begun.
func (a *Activity) Began(s *trace.Span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.Name == planning {
		a.done = 0
	}
	a.active[s.Context.Span] = s
}

// Ended notes that a span has ended.
func (a *Activity) Ended(s *trace.Span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ofObject(s.Name) {
		a.done++
	}
	delete(a.active, s.Context.Span)
}

// Wants implements telemetry.Watcher.
func (a *Activity) Wants(string) bool { return true }

// planning is the span of a whole plan.
const planning = "plan"

// ofObject reports whether a span of a plan is about one object.
func ofObject(name string) bool { return name == "plan object" || name == "read" }

// phases are the stages that the status line can name; of several, it names the last one. Applying is not
// among them, since its steps are counted. An empty text shows nothing: the program may ask a question of its
// own at the terminal.
var phases = []struct {
	name, text string
	ofState    bool // it waits for the service that has the state
}{
	{"initialize backend", "Initializing the backend", true},
	{"install modules", "Installing modules", false},
	{"install providers", "Installing providers", false},
	{"install provider", "Installing providers", false},
	{planning, "Planning", false},
	{"validate", "Validating the configuration", false},
	{"start provider", "Starting providers", false},
	{"lock state", "Locking the state", true},
	{"read state", "Reading the state", true},
	{"start journal", "Preparing to record changes", true},
	{"write state", "Storing the state", true},
	{"unlock state", "Unlocking the state", true},
	{"get encryption key", "Getting the encryption key", false},
	{"install module", "", false},
}

// doings are the verbs for spans about one object or one provider.
var doings = map[string]string{
	"ReadResource": "reading", "ReadData": "reading", "PlanResource": "planning", "ImportResource": "importing", "UpgradeResource": "upgrading",
	"ValidateResource": "validating", "ValidateConfig": "validating", "Configure": "configuring", "OpenEphemeral": "opening", "RenewEphemeral": "renewing",
	"CloseEphemeral": "closing", "create": "creating", "update": "updating", "delete": "destroying", "provision": "provisioning", "PlanAction": "planning", "invoke": "invoking",
}

const (
	activityAfter = time.Second      // shorter work is not shown
	longAfter     = 10 * time.Second // from when on one object is named
)

// text describes the work under way at a time; "" if none is worth showing.
func (a *Activity) text(now time.Time) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	begun, running := map[string]time.Time{}, 0
	for _, s := range a.active {
		if at, ok := begun[s.Name]; !ok || s.Begin.Before(at) {
			begun[s.Name] = s.Begin
		}
		if ofObject(s.Name) {
			running++
		}
	}
	for i := len(phases) - 1; i >= 0; i-- {
		at, ok := begun[phases[i].name]
		switch took := now.Sub(at); {
		case !ok:
			continue
		case phases[i].text == "":
			return ""
		case took < activityAfter:
			continue // the enclosing phase may have taken longer
		case phases[i].name == planning:
			return fmt.Sprintf("Planning: %d done%s, %s elapsed%s", a.done, runningText(running), seconds(took), a.long(now))
		default:
			return fmt.Sprintf("%s, %s elapsed%s", phases[i].text, seconds(took), a.long(now))
		}
	}
	return ""
}

// long describes the longest-running work on one object, or by one provider, to be appended to a line; "" if
// none has run for long. The slow hashes of ephemeral attributes are named instead while there are any. a.mu
// is held.
func (a *Activity) long(now time.Time) string {
	var longest *trace.Span
	for _, s := range a.active {
		if s.Name == "hash value" {
			return "; comparing the values of ephemeral attributes"
		}
		if doings[s.Name] != "" && now.Sub(s.Begin) >= longAfter && (longest == nil || s.Begin.Before(longest.Begin)) {
			longest = s
		}
	}
	if longest == nil {
		return ""
	}
	subject := longest.Text(trace.Address)
	if parent := a.active[longest.Parent]; subject == "" && parent != nil {
		subject = parent.Text(trace.Address)
	}
	if subject == "" {
		subject = longest.Text(trace.Provider)
	}
	if subject == "" {
		return ""
	}
	return fmt.Sprintf("; %s: %s for %s", visible(subject), doings[longest.Name], seconds(now.Sub(longest.Begin)))
}

// longNow is long for callers that do not hold a.mu. a may be nil.
func (a *Activity) longNow(now time.Time) string {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.long(now)
}
