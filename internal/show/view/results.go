package view

import (
	"io"
	"maps"
	"slices"

	"github.com/mayfly-iac/mayfly/state"
)

// Results writes the outputs of a state, each as NAME = VALUE, and the results of its checks, each with the
// messages of conditions that fail. It fails if w fails, or if a value cannot be decoded.
func Results(w io.Writer, st *state.State, o Options) error {
	sw := &writer{o: o}
	for _, name := range slices.Sorted(maps.Keys(st.Outputs)) {
		if err := sw.stateOutput(name, st.Outputs[name]); err != nil {
			return err
		}
	}
	for _, r := range st.Checks {
		sw.WriteString(Visible(r.Config) + ": " + string(r.Status) + "\n")
		for _, object := range r.Objects {
			for _, message := range object.Failures {
				sw.WriteString("  " + Visible(object.Addr) + ": " + Visible(message) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, sw.String())
	return err
}
