package report

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
)

// State adds the objects and outputs of a state. Nothing is done if the report or the state is nil. An error
// is of a value that cannot be decoded.
func (r *Report) State(st *state.State, schemas document.Schemas) error {
	if r == nil || st == nil {
		return nil
	}
	for i := range st.AllInstances() {
		var text strings.Builder
		if err := view.StateInstance(&text, st, i, schemas, view.Options{}); err != nil {
			return err
		}
		r.Object(i.String(), i.Module.String(), text.String())
	}
	return r.StateOutputs(st)
}

// StateOutputs adds the outputs of a state. Nothing is done if the report is nil or there are none.
func (r *Report) StateOutputs(st *state.State) error {
	if r == nil || len(st.Outputs) == 0 {
		return nil
	}
	var text strings.Builder
	err := view.Outputs(&text, st.Outputs, view.Options{})
	r.Outputs(text.String())
	return err
}

// Diagnostics adds diagnostics as people see them, with the source lines from sources. Nothing is done if the
// report is nil.
func (r *Report) Diagnostics(list diag.List, sources document.Sources) {
	if r == nil {
		return
	}
	for _, bad := range []bool{true, false} {
		some := slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return (d.Severity == diag.Error) != bad })
		var text strings.Builder
		if view.Diagnostics(&text, some, sources, view.Options{}) == nil && len(some) > 0 {
			r.Note(strings.Trim(text.String(), "\n"), bad)
		}
	}
}
