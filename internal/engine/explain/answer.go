// Package explain answers questions about a plan: why an object changes, is replaced or is read later, where
// a value comes from, why it is sensitive or ephemeral, and who depends on it.
//
// An answer follows from the plan and from the graph of blocks, without a run, and each point of it has the
// place in the configuration that it is about. Values are in an answer only if they are short, stored in the
// plan and neither sensitive nor ephemeral.
//
// It may import eval/blocks and plan and the packages these build on. It must not know runs, providers or
// states.
package explain

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Answer has the findings about one block, instance or attribute. Lists without members are left out of the
// document.
type Answer struct {
	Address  string  `json:"address"`            // as it was asked for, in canonical form
	Kind     string  `json:"kind"`               // resource, data, ephemeral, variable, local, output, module, provider or check
	Declared *Place  `json:"declared,omitempty"` // nil if no block declares it
	Headline string  `json:"headline"`           // its change, as the end of a sentence about it
	Action   string  `json:"action,omitempty"`   // of the plan, "" if the plan has no change of its own for it
	Why      []Point `json:"why,omitempty"`
	From     []Point `json:"comes_from,omitempty"` // where its values come from
	Marks    []Point `json:"marks,omitempty"`      // its sensitive, ephemeral and write-only parts
	Users    []Point `json:"used_by,omitempty"`    // who depends on it
}

// Point is one fact of an answer.
type Point struct {
	Kind      string `json:"kind"` // a word for programs, such as "changes" or "replace_because_tainted"
	Text      string `json:"text"` // for people, the beginning of a line
	Attribute string `json:"attribute,omitempty"`
	Address   string `json:"address,omitempty"` // of the other block or instance that it is about
	Place     *Place `json:"place,omitempty"`
	// Chain leads from a reference, over local values, variables and outputs, to the origin of a value.
	Chain []Hop `json:"chain,omitempty"`
}

// Hop is a reference on the way of a value.
type Hop struct {
	Name  string `json:"name"`
	Place *Place `json:"place,omitempty"` // where it is declared, or set by the call of a module
}

// Place is a line of the configuration.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// placeOf returns the place where a range begins, nil for the zero Range.
func placeOf(r hcl.Range) *Place {
	if r.Filename == "" {
		return nil
	}
	return &Place{r.Filename, r.Start.Line}
}

// kindOf returns the word for the kind of a block.
func kindOf(n blocks.Node) string {
	switch b := n.(type) {
	case *blocks.Resource:
		return b.Config.Addr.Mode.String()
	case *blocks.Value:
		return [...]string{blocks.VariableValue: "variable", blocks.LocalValue: "local", blocks.OutputValue: "output"}[b.Kind]
	case *blocks.Provider:
		return "provider"
	case *blocks.Check:
		return "check"
	default:
		return "module"
	}
}

// nameOf returns the name of a block as a reference to it from the root module would be written, with the
// output's word left out where the module's name precedes it.
func nameOf(n blocks.Node) string {
	if v, ok := n.(*blocks.Value); ok && v.Kind == blocks.OutputValue && v.Module.Parent != nil {
		return v.Module.OutputAddr(v.Name)
	}
	return n.Address()
}
