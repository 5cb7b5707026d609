package blocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

// maxInCycle bounds the names in the summary of a cycle.
const maxInCycle = 4

// Cycle returns the error for a cycle in which names[i] waits for the next name because of vias[i], which may
// be nil.
func Cycle(names []string, vias []*hcl.Range) diag.List {
	n, start := len(names), slices.Index(names, slices.Min(names))
	if n == 1 {
		return diag.List{{Summary: "Self-referential block", Detail: names[0] + " refers to itself" + PlaceText(vias[0]) + ", so it can never be evaluated.", Subject: vias[0]}}
	}
	var sb strings.Builder
	sb.WriteString("These objects wait for each other, so none of them can be evaluated first:\n")
	var subject *hcl.Range
	var ordered []string
	for i := range n {
		at := (start + i) % n
		fmt.Fprintf(&sb, "\n  %s waits for %s%s", names[at], names[(at+1)%n], PlaceText(vias[at]))
		if subject == nil {
			subject = vias[at]
		}
		if len(ordered) <= maxInCycle && !slices.Contains(ordered, names[at]) {
			ordered = append(ordered, names[at])
		}
	}
	sb.WriteString("\n\nRemove one of these references.")
	if len(ordered) > maxInCycle {
		ordered = append(ordered[:maxInCycle-1:maxInCycle-1], "…")
	}
	return diag.List{{Summary: "Cycle: " + strings.Join(ordered, ", "), Detail: sb.String(), Subject: subject}}
}

// PlaceText returns a place after a space, in parentheses; "" for none.
func PlaceText(rng *hcl.Range) string {
	if rng == nil {
		return ""
	}
	return " (" + diag.Place(*rng) + ")"
}
