package suite

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// computedIn is the run that has made a value which the state does not keep.
type computedIn struct{ run, value string } // value tells it from others of the attribute

// noteComputed notes the values that a run has made, and that the state does not keep.
func (s *runState) noteComputed(out *Run) {
	if out.State == nil {
		return
	}
	for i, in := range out.State.AllInstances() {
		if in.Current == nil {
			continue
		}
		for _, w := range in.Current.Withheld {
			attribute, ok := w.Path[0].(cty.GetAttrStep)
			name := i.String() + "." + attribute.Name
			if ok && w.Computed && s.computed[name].value != w.Value() {
				if s.computed == nil {
					s.computed = map[string]computedIn{}
				}
				s.computed[name] = computedIn{out.TestRun.Name, w.Value()}
			}
		}
	}
}

// whereMade says which runs have made the values of attributes; "" if that is not known.
func whereMade(attributes []string, by map[string]computedIn) string {
	var lines strings.Builder
	for _, name := range attributes {
		for whole, made := range by {
			if rest, ok := strings.CutPrefix(name, whole); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				fmt.Fprintf(&lines, "\n  the run %q made %s", made.run, name)
			}
		}
	}
	if lines.Len() == 0 {
		return ""
	}
	return "\n" + lines.String()
}
