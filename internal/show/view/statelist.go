package view

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// StateList writes a table with a line for each of the given instances of a state: its address, its provider,
// how many instances depend on its block, and its unusual conditions. It has no values. It fails if w fails.
func StateList(w io.Writer, st *state.State, list []addr.Instance) error {
	users := map[addr.ConfigResource]int{}
	for _, in := range st.AllInstances() {
		if in.Current != nil {
			for _, d := range in.Current.Dependencies {
				users[d]++
			}
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ADDRESS\tPROVIDER\tDEPENDENTS\tSTATUS")
	for _, a := range list {
		in := st.Instance(a)
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", visible(a.String()), in.Provider.Provider.ForDisplay(), users[a.Config()], status(in))
	}
	return t.Flush()
}

// status lists the unusual conditions of an instance; "ok" if there are none.
func status(in *state.Instance) string {
	var out []string
	switch {
	case in.Current == nil:
		out = append(out, "no object")
	case in.Current.Tainted:
		out = append(out, "tainted")
	}
	if n := len(in.Deposed); n > 0 {
		out = append(out, fmt.Sprintf("%d deposed", n))
	}
	if len(out) == 0 {
		return "ok"
	}
	return strings.Join(out, ", ")
}

// StateDependents writes the instances of a state that were made from the block of a, each as a remark; a
// remark that there are none if that is so. It fails if w fails.
func StateDependents(w io.Writer, st *state.State, a addr.Instance) error {
	var sb strings.Builder
	for i, in := range st.AllInstances() {
		if in.Current == nil {
			continue
		}
		for _, d := range in.Current.Dependencies {
			if d == a.Config() {
				sb.WriteString("#   " + visible(i.String()) + "\n")
			}
		}
	}
	head := "\n# Nothing in the state depends on it.\n"
	if sb.Len() > 0 {
		head = "\n# What depends on " + a.Config().String() + ":\n"
	}
	_, err := io.WriteString(w, head+sb.String())
	return err
}
