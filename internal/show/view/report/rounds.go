package report

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/plan"
)

// Deferred is the kind of a row that a plan leaves to a later one.
const Deferred = "deferred"

// round is a plan, with all that became of it.
type round struct {
	summary string
	graph   *plan.Graph // nil if there is no order
}

// happening is an object in a round, whose number is from 1.
type happening struct {
	round   int
	address string
}

// Detail implements event.DetailObserver.
func (r *Report) Detail(e event.Event) {
	r.Recorder.Detail(e)
	if e.Op != event.OpPlanning || e.Kind != event.Started {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned++
}

// addDeferrals adds a row for all that a plan leaves to a later one.
func (r *Report) addDeferrals(p *plan.Plan, changes *view.Changes) error {
	for _, d := range p.Deferrals {
		text, err := changes.Deferral(d)
		if err != nil {
			return err
		}
		next := Row{Address: d.Change.Object().String(), Module: d.Change.Addr.Module.String(), Kind: Deferred, Headline: view.DeferralHeadline(d), Text: text}
		if waits := view.DeferralWaits(d); waits != "" {
			next.Why = append(next.Why, "It "+waits+".")
		}
		r.add(next)
	}
	return nil
}

// summaries returns the lines at the head of the page: the numbers of each round, and of its outcomes.
func (r *Report) summaries() []string {
	if len(r.rounds) == 0 {
		return []string{r.summary}
	}
	var out []string
	for i, next := range r.rounds {
		if len(r.rounds) > 1 {
			next.summary = fmt.Sprintf("Round %d: %s", i+1, next.summary)
			if r.applied {
				next.summary += " " + r.ended(i+1)
			}
		}
		out = append(out, next.summary)
	}
	if r.applied && len(r.rounds) == 1 {
		out = append(out, r.ended(0))
	}
	return out
}

// ended counts the outcomes of the objects of a round, or of all if it is 0, in one line.
func (r *Report) ended(number int) string {
	n := map[string]int{}
	for _, row := range r.rows {
		if number == 0 || row.Round == number {
			n[row.Outcome]++
		}
	}
	text := fmt.Sprintf("Applied: %d done", n[Done])
	for _, outcome := range []string{failed, unfinished, NotBegun} {
		if n[outcome] > 0 {
			text += fmt.Sprintf(", %d %s", n[outcome], outcome)
		}
	}
	return text + "."
}
