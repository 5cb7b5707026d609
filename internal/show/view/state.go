package view

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// State writes a state for people: every object as a block of configuration, then the outputs. It is text to
// be read, not to be parsed or applied. s may be nil; it fails if w fails, or if a value cannot be decoded.
func State(w io.Writer, st *state.State, s document.Schemas, o Options) error {
	sw := &writer{o: o}
	if st == nil || st.Empty() {
		sw.WriteString("The state file is empty. No resources are represented.\n")
		_, err := io.WriteString(w, sw.String())
		return err
	}
	for a, inst := range st.AllInstances() {
		objects, err := document.Objects(a, inst, s)
		if err != nil {
			return err
		}
		for _, so := range objects {
			sw.object(so)
			sw.WriteByte('\n')
		}
	}
	if len(st.Outputs) > 0 {
		sw.WriteString("\nOutputs:\n\n")
		for _, name := range slices.Sorted(maps.Keys(st.Outputs)) {
			if err := sw.stateOutput(name, st.Outputs[name]); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, sw.String())
	return err
}

// StateInstance writes one resource instance of a state. It returns an error if the state does not have it.
func StateInstance(w io.Writer, st *state.State, a addr.Instance, s document.Schemas, o Options) error {
	inst := st.Instance(a)
	if inst == nil {
		return fmt.Errorf("the state has no resource instance %s", a)
	}
	objects, err := document.Objects(a, inst, s)
	if err != nil {
		return err
	}
	sw := &writer{o: o}
	for i, so := range objects {
		if i > 0 {
			sw.WriteByte('\n')
		}
		sw.object(so)
	}
	_, err = io.WriteString(w, sw.String())
	return err
}

// object writes the block of an object. Without symbols, attributes start two columns further left than in
// a plan.
func (w *writer) object(so document.Object) {
	note := ""
	switch {
	case so.Stored.Tainted:
		note = " (tainted)"
	case so.Addr.Deposed != addr.Current:
		note = " (deposed object " + string(so.Addr.Deposed) + ")"
	}
	r := so.Addr.Resource
	fmt.Fprintf(w, "# %s:%s\n%s %q %q {\n", so.Addr.Instance, note, r.Mode, r.Type, r.Name)
	var block *schema.Block
	if so.Schema != nil {
		block = so.Schema.Block
	}
	d := differ{show: w.o.ShowSensitive}
	if n, ok := d.block(block, so.Value, so.Value, storedPaths(so.Stored)).body.(nested); ok {
		w.content(n, -2, false)
	}
	w.WriteString("}\n")
}

// stateOutput writes an output of the state. Null outputs are skipped. An output is hidden if it is
// declared sensitive or if its value is marked, whether or not both agree.
func (w *writer) stateOutput(name string, out *state.Output) error {
	v, err := out.Value.Live()
	if err != nil {
		return fmt.Errorf("output.%s: %w", name, err)
	}
	if !exists(v) || v.IsNull() {
		return nil
	}
	var n *node
	if _, marked := value.Unmark(v); (out.Sensitive || marked) && !w.o.ShowSensitive {
		n = &node{body: hidden{sensitiveText}}
	} else {
		n = differ{show: w.o.ShowSensitive}.value(v, v, free, nil)
	}
	w.WriteString(name + " = ")
	n.body.write(w, n, -2, false)
	w.WriteByte('\n')
	return nil
}

// Outputs writes the root outputs, each as NAME = VALUE in the notation of the language. Sensitive values
// are replaced by <sensitive>.
func Outputs(w io.Writer, outputs map[string]*state.Output, o Options) error {
	ow := &writer{o: o}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		out := outputs[name]
		text, err := outputText(out, o)
		if err != nil {
			return fmt.Errorf("output.%s: %w", name, err)
		}
		ow.WriteString(name + " = " + text + "\n")
	}
	_, err := io.WriteString(w, ow.String())
	return err
}

// outputText returns the value of an output. One that is declared sensitive is not even decoded.
func outputText(out *state.Output, o Options) (string, error) {
	if out.Sensitive && !o.ShowSensitive {
		return "<sensitive>", nil
	}
	v, err := out.Value.Live()
	if err != nil {
		return "", err
	}
	return FormatValue(v, o), nil
}

// OutputRaw returns the text of an output for -raw: a string, number or bool without quotes, else an error.
// Sensitive values are returned too: naming one output with -raw means to see it.
func OutputRaw(out *state.Output) (string, error) {
	v, err := out.Value.Unmarked()
	switch {
	case err != nil:
		return "", err
	case !exists(v) || v.IsNull():
		return "", fmt.Errorf("the value is null; only strings, numbers and bools can be printed raw")
	case !v.IsKnown():
		return "", fmt.Errorf("the value is not known until the plan is applied")
	case v.Type() == cty.String:
		return v.AsString(), nil
	case v.Type().IsPrimitiveType():
		return scalarText(v), nil
	default:
		return "", fmt.Errorf("the value is %s; only strings, numbers and bools can be printed raw. Use -json for other values", value.Kind(v))
	}
}
