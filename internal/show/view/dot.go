package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/plan"
)

// The node shapes that programs which read such graphs expect. Nodes of other kinds occur only in edges.
var dotShapes = map[plan.NodeKind]string{plan.VariableNode: "note", plan.ResourceNode: "box", plan.ProviderNode: "diamond"}

// Dot writes a graph in the DOT language, in the layout that programs which read such graphs expect. With
// highlight, edges within a cycle are red. It fails if w fails.
func Dot(w io.Writer, g *plan.Graph, highlight bool) error {
	cycle := map[string]int{}
	if highlight {
		for i, members := range g.Cycles() {
			for _, m := range members {
				cycle[m] = i + 1
			}
		}
	}
	var out strings.Builder
	out.WriteString("digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n")
	nodes := g.Nodes()
	for _, name := range nodes {
		if shape := dotShapes[g.Kind(name)]; shape != "" {
			fmt.Fprintf(&out, "\t\t%s [label = %s, shape = %q]\n", dotID(name), dotQuote(strings.TrimSuffix(name, " (expand)")), shape)
		}
	}
	for _, name := range nodes {
		for _, to := range g.Dependencies(name) {
			attrs := ""
			if cycle[name] != 0 && cycle[name] == cycle[to] {
				attrs = ` [color = "red", penwidth = "2.0"]`
			}
			fmt.Fprintf(&out, "\t\t%s -> %s%s\n", dotID(name), dotID(to), attrs)
		}
	}
	out.WriteString("\t}\n}\n\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// dotID returns the identifier of a node, with the prefix that other engines write.
func dotID(name string) string { return dotQuote("[root] " + name) }

// dotQuote returns s as a quoted string of the DOT language.
func dotQuote(s string) string { return `"` + dotEscapes.Replace(s) + `"` }

// In labels a backslash begins an escape such as \N, and one before a quote would escape the
// quote.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// CycleText lists the members of a cycle of a graph, for a message.
func CycleText(members []string) string {
	names := slices.Clone(members)
	for i, n := range names {
		names[i] = strings.TrimSuffix(n, " (expand)")
	}
	return strings.Join(names, ", ")
}
