package explain

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
)

// actionHappens says when an action is invoked.
func actionHappens(e *Explainer, out *Answer, s subject) {
	out.Headline = "is not invoked"
	n := 0
	for _, i := range e.plan.Invocations {
		if i.Action.Abs() != s.instance.Abs() || s.instance.Key != addr.NoKey && i.Action.Key != s.instance.Key {
			continue
		}
		n++
		p := Point{Kind: "invoked", Text: "-invoke names " + i.Action.String()}
		if t := i.Trigger; t != nil {
			p.Address, p.Text = t.Resource.String(), fmt.Sprintf("a trigger of %s names %s for %s", t.Resource, i.Action, t.Event)
			if i.Undecided {
				p.Text += ", if its condition holds, which is not known yet"
			}
		}
		out.Why = append(out.Why, p)
	}
	switch {
	case n == 1:
		out.Headline = "is invoked"
	case n > 1:
		out.Headline = fmt.Sprintf("is invoked %d times", n)
	}
}
