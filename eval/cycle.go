package eval

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
)

// reportCycle explains a circle of references: the ordered chain, each hop with its position, starting at the smallest address so that the text does not
// depend on who met the circle first.
func (r *Run) reportCycle(c *future.Cycle) {
	n := len(c.Frames)
	if n == 0 {
		return
	}
	names := make([]string, n)
	start := 0
	for i, f := range c.Frames {
		names[i] = labelText(f.Label)
		if names[i] < names[start] {
			start = i
		}
	}
	var sb strings.Builder
	sb.WriteString("These objects refer to each other in a circle, so none of them can be evaluated first:\n")
	var subject *hcl.Range
	for i := range n {
		at := (start + i) % n
		next := (at + 1) % n
		rng, _ := c.Frames[next].Via.(*hcl.Range)
		fmt.Fprintf(&sb, "\n  %s refers to %s", names[at], names[next])
		if rng != nil {
			fmt.Fprintf(&sb, " at %s:%d,%d", rng.Filename, rng.Start.Line, rng.Start.Column)
			if subject == nil {
				subject = rng
			}
		}
	}
	sb.WriteString("\n\nRemove one of these references.")
	r.Report(diag.List{{Summary: "Cycle in references", Detail: sb.String(), Subject: subject}})
}

func labelText(label any) string {
	switch l := label.(type) {
	case *Value:
		return l.Addr()
	case *Instance:
		return l.Addr().String()
	case *Resource:
		return l.Addr().String()
	case *ProviderObject:
		return l.Addr.String()
	case string:
		return l
	default:
		return "an object"
	}
}
