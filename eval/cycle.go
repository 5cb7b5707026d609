package eval

import (
	"fmt"
	"slices"
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
	names, vias := make([]string, n), make([]*hcl.Range, n)
	for i, f := range c.Frames {
		names[i] = labelText(f.Label)
		if v, ok := f.Label.(*Value); ok {
			v.circular.Store(true)
		}
		vias[i], _ = c.Frames[(i+1)%n].Via.(*hcl.Range)
	}
	r.Report(cycleDiag(names, vias))
}

// cycleDiag returns the error for a circle in which names[i] refers to the next name at vias[i], which may be nil.
func cycleDiag(names []string, vias []*hcl.Range) diag.List {
	n, start := len(names), slices.Index(names, slices.Min(names))
	var sb strings.Builder
	sb.WriteString("These objects refer to each other in a circle, so none of them can be evaluated first:\n")
	var subject *hcl.Range
	for i := range n {
		at := (start + i) % n
		next, rng := (at+1)%n, vias[at]
		fmt.Fprintf(&sb, "\n  %s refers to %s", names[at], names[next])
		if rng != nil {
			fmt.Fprintf(&sb, " at %s:%d,%d", rng.Filename, rng.Start.Line, rng.Start.Column)
			if subject == nil {
				subject = rng
			}
		}
	}
	sb.WriteString("\n\nRemove one of these references.")
	return diag.List{{Summary: "Cycle in references", Detail: sb.String(), Subject: subject}}
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
