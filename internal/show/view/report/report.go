// Package report writes a plan, an apply or a state as one page that can be kept: a summary, each change with
// its diff and its reasons, the order of the changes, and the timeline of the run.
//
//	rep := report.New("Plan", where, redact)
//	... Observer: event.Observers(mine, rep)
//	err := rep.Plan(p, schemas, why)
//	...
//	err = rep.Write(w)
//
// The page needs nothing from elsewhere. Its own script makes elements of the changes when they come into
// sight, so that a page with ten thousand of them opens at once. A content security policy admits that script
// and the style sheet by their hashes, and nothing else. Sensitive values are hidden, as in the text of a
// plan.
//
// If Plan is called more than once, each plan is a round of one run, and has a part of the page.
//
// In reading order: report.go collects, rounds.go keeps rounds apart, state.go collects a state and
// diagnostics, page.go writes the document, order.go draws the order of changes, page.js is the script, and
// content.go has the content for other renderings. It may import the same packages as view. It opens no file.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/hypertext"
	"github.com/mayfly-iac/mayfly/internal/show/view/timeline"
	"github.com/mayfly-iac/mayfly/plan"
)

// Report collects the content of a page. It is an event.DetailObserver, and safe for concurrent use.
type Report struct {
	*timeline.Recorder
	Fold bool // changes that are alike stand behind one line until they are asked for; set before Plan
	// Directory, Workspace and Place are where the run and its state are, and Commit is the configuration's.
	// They are "" if that is not known.
	Directory, Workspace, Place, Commit string

	title   string
	where   string // the workspace and the time, as the line below the title
	redact  func(string) string
	mu      sync.Mutex
	summary string
	banner  string // the warning above all else; "" for none
	rows    []Row
	actions int      // that the changes trigger
	folds   []string // a note about each fold
	outputs string
	rounds  []round
	notes   []Note // diagnostics
	tests   []Test
	results map[happening]*result
	planned int  // plans that have begun
	applied bool // something was changed
}

// Row is an object in the page. The names of its members are short because there may be many.
type Row struct {
	Address  string   `json:"a"`
	Module   string   `json:"m,omitempty"`
	Kind     string   `json:"k"` // of change; those that view distinguishes
	Headline string   `json:"h,omitempty"`
	Why      []string `json:"w,omitempty"`
	Text     string   `json:"d"` // the block, as lines with a symbol in the margin
	Outcome  string   `json:"o,omitempty"`
	Took     string   `json:"t,omitempty"`
	Fold     int      `json:"g,omitempty"` // the number of the fold that it is in, from 1
	Round    int      `json:"r,omitempty"` // of the run, from 1; 0 for an object of a state
}

// Outcomes of an object.
const (
	Done       = "done"
	failed     = "failed"
	unfinished = "not finished"
	NotBegun   = "not begun"
)

// result is the outcome of an object while applying.
type result struct {
	outcome string
	took    time.Duration
}

// Note is the text of a diagnostic.
type Note struct {
	Bad  bool // an error
	Text string
}

// New returns a report without content. title is its heading, "" for one that follows from the content, and
// where is the line below it. redact is applied to every text, and may be nil.
func New(title, where string, redact func(string) string) *Report {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Report{Recorder: timeline.New(), title: title, where: where, redact: redact, results: map[happening]*result{}}
}

// Event implements event.Observer.
func (r *Report) Event(e event.Event) {
	r.Recorder.Event(e)
	switch e.Op {
	case event.OpCreate, event.OpUpdate, event.OpDelete, event.OpForget, event.OpAdopt, event.OpRead, event.OpInvoke:
	default:
		return
	}
	outcome := map[event.Kind]string{event.Started: unfinished, event.Completed: Done, event.Failed: failed}[e.Kind]
	if outcome == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := happening{max(1, r.planned), r.clean(e.Object.String())} // as in the row
	was := r.results[at]
	if was == nil {
		was = &result{}
		r.results[at] = was
	}
	if was.outcome != failed { // one of the two halves of a replacement
		was.outcome = outcome
	}
	if e.Kind != event.Started {
		was.took += e.Elapsed
	}
	r.applied = r.applied || e.Op != event.OpRead
}

// Note adds the text of a diagnostic. bad says that it is an error.
func (r *Report) Note(text string, bad bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, Note{bad, r.clean(text)})
}

// clean returns a text as it may stand in the page.
func (r *Report) clean(s string) string { return hypertext.Visible(r.redact(s)) }

// Plan adds a plan, which is the next round if there is one already. why returns the reasons for a change,
// and may be nil. An error is of a value that cannot be decoded.
func (r *Report) Plan(p *plan.Plan, s document.Schemas, why func(*plan.Change) []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	changes := view.NewChanges(p, s)
	r.rounds = append(r.rounds, round{summary: changes.Summary()})
	r.title = cmp.Or(r.title, "Plan")
	if err := r.addPlan(p, changes, why); err != nil {
		return err
	}
	r.banner = bannerOf(p)
	if g, err := p.Graph(); err == nil && !p.Errored { // an incomplete plan may have no order
		r.rounds[len(r.rounds)-1].graph = g
	}
	outputs, err := changes.Outputs()
	r.outputs = r.clean(outputs)
	return err
}

// bannerOf returns the warning about a plan, "" for none.
func bannerOf(p *plan.Plan) string {
	switch {
	case p.Errored:
		return "Planning failed. The page shows the plan as far as it was made."
	case !p.Complete() && !p.Changed() && p.Mode != plan.RefreshOnly:
		return "Nothing can be changed yet: all changes are deferred to a later plan."
	case !p.Complete():
		return fmt.Sprintf("%d deferred to a later plan, which is to be made once this one is applied.", len(p.Deferrals))
	case p.Extent.Partial():
		return view.ScopeLine(p.Extent) + " What has changed outside is not looked for."
	case !p.Changed():
		return "No changes: the infrastructure is as the configuration wants it."
	case len(p.Targets)+len(p.Excludes) > 0:
		return "-target or -exclude leaves parts of the configuration out."
	}
	return ""
}

// addPlan adds a row for each change of a plan, and for all that it defers.
func (r *Report) addPlan(p *plan.Plan, changes *view.Changes, why func(*plan.Change) []string) error {
	r.rows = slices.Grow(r.rows, len(p.Changes)+len(p.Deferrals))
	inFold, err := r.fold(changes)
	if err != nil {
		return err
	}
	for _, c := range p.Drift {
		headline, text, err := changes.Drift(c)
		if err != nil {
			return err
		}
		r.add(Row{Address: c.Object().String(), Module: c.Addr.Module.String(), Kind: "drift", Headline: headline, Text: text, Fold: inFold[c]})
	}
	for _, c := range p.Changes {
		if c.Action == plan.NoOp && !c.Moved() && c.Importing == nil {
			continue
		}
		text, err := changes.Text(c)
		if err != nil {
			return err
		}
		next := Row{Address: c.Object().String(), Module: c.Addr.Module.String(), Kind: kindOf(c), Headline: changes.Headline(c), Text: text, Fold: inFold[c]}
		if why != nil {
			next.Why = why(c)
		}
		r.add(next)
	}
	if err := r.addDeferrals(p, changes); err != nil {
		return err
	}
	if !p.Invoking() {
		r.actions += len(p.Invocations) // which are in the texts of the changes that trigger them
		return nil
	}
	for _, i := range p.Invocations {
		text, err := changes.Invocation(i)
		if err != nil {
			return err
		}
		r.add(Row{Address: i.Action.String(), Module: i.Action.Module.String(), Kind: "invoke", Headline: "will be invoked", Text: text})
	}
	return nil
}

// fold finds the changes that are alike, and returns the number of the fold that a change is in.
func (r *Report) fold(changes *view.Changes) (map[*plan.Change]int, error) {
	out := map[*plan.Change]int{}
	if !r.Fold {
		return out, nil
	}
	folds, err := changes.Folds()
	for _, f := range folds {
		r.folds = append(r.folds, r.clean(f.Headline+"; "+f.Note))
		for _, c := range f.Changes {
			out[c] = len(r.folds)
		}
	}
	return out, err
}

// add appends a row, with its texts cleaned.
func (r *Report) add(next Row) {
	next.Address, next.Module, next.Headline, next.Text = r.clean(next.Address), r.clean(next.Module), r.clean(next.Headline), r.clean(next.Text)
	for i := range next.Why {
		next.Why[i] = r.clean(next.Why[i])
	}
	next.Round = len(r.rounds)
	r.rows = append(r.rows, next)
}

// Object adds an object of a state. module is the module of its address, "" for the root module.
func (r *Report) Object(address, module, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(Row{Address: address, Module: module, Kind: "object", Text: text})
}

// Outputs adds the text of the outputs of a state or of an apply, in place of the plan's outputs.
func (r *Report) Outputs(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outputs = r.clean(text)
}

// settle notes the outcomes of the objects in the rows, if anything was changed.
func (r *Report) settle() {
	if !r.applied {
		return
	}
	for i := range r.rows {
		next := &r.rows[i]
		got := r.results[happening{next.Round, next.Address}]
		switch {
		case next.Kind == "drift" || next.Kind == "move" || next.Kind == Deferred:
		case got == nil:
			next.Outcome = NotBegun
		default:
			next.Outcome = got.outcome
			if got.outcome == Done {
				next.Headline = strings.Replace(strings.Replace(next.Headline, "will be ", "was ", 1), "must be ", "was ", 1)
			}
			if got.took > 0 {
				next.Took = timeline.Duration(got.took)
			}
		}
	}
}

// kindOf returns the kind of a change by which a reader filters.
func kindOf(c *plan.Change) string {
	switch {
	case c.Action.IsReplace():
		return "replace"
	case c.Action == plan.NoOp && c.Importing != nil:
		return "import"
	case c.Action == plan.NoOp:
		return "move"
	}
	return c.Action.String()
}
