package simlog

import (
	"fmt"
	"strings"
)

// Transcript renders the matching calls in the order of their events, one per line, without times and
// process ids, for golden files:
//
//	> ApplyResourceChange sim_thing.x create
//	< ApplyResourceChange sim_thing.x create: error
func (l Log) Transcript(f Filter) string {
	var b strings.Builder
	for _, e := range l {
		if !f.match(e) {
			continue
		}
		mark := ">"
		if e.Phase == End {
			mark = "<"
		}
		fmt.Fprintf(&b, "%s %s", mark, e.RPC)
		if e.Type != "" || e.Name != "" {
			fmt.Fprintf(&b, " %s.%s", e.Type, e.Name)
		}
		if e.Action != "" {
			fmt.Fprintf(&b, " %s", e.Action)
		}
		if e.Err != "" {
			b.WriteString(": error")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
