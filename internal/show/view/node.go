package view

import "github.com/mayfly-iac/mayfly/plan"

// effect is the effect of a plan on one value.
type effect uint8

const (
	same effect = iota
	added
	removed
	changed
)

// node is one value of a diff: its effect, and the body that is written for it. A differ builds the tree of
// nodes and a writer writes it; the two are apart because the effect of a container is known only after its
// items are compared, yet is written first.
type node struct {
	effect effect
	forces bool        // the change of this value forces a replacement
	secret sensitivity // how its sensitivity changes
	body   body
}

// sensitivity is a change of a value's sensitivity that leaves the value as it is.
type sensitivity uint8

const (
	steady sensitivity = iota
	becomesSensitive
	becomesPublic
)

// body writes the value of a node after its name. at is the column of the symbol on the line where the
// value begins; with nulls, a removed value is followed by "-> null".
type body interface {
	write(w *writer, n *node, at int, nulls bool)
}

// leaf is a value of one line. before and after are texts ready to be written, "" for a side that doesn't
// exist.
type leaf struct{ before, after string }

// hidden is written in place of a secret.
type hidden struct{ text string }

// pair is a value that changes its kind, such as from a string to a list.
type pair struct{ before, after *node }

// sequence is a list or set of plain values.
type sequence struct {
	items []*node
	// context keeps the unchanged neighbours of changed elements in sight and counts the others in place.
	// Without it they're counted at the end.
	context bool
}

// named is a node under a name: an attribute, or an item of a map.
type named struct {
	name string // as written
	node *node
	// keep has the node shown in full although nothing in it changes.
	keep bool
}

// mapping is a map or object of plain values.
type mapping struct {
	items []named
	noun  string // of a hidden item: "attribute" or "element"
	// align pads names to one width; commas ends items with a comma, as in a map of nested attributes.
	align, commas bool
	nulls         bool // for removed items
}

// nested is the content of a block, or of an attribute with nested attributes.
type nested struct {
	attrs  []named
	blocks []blockGroup
}

// blockGroup is all blocks of one type.
type blockGroup struct {
	name  string
	items []blockItem
}

// blockItem is one block; label is its quoted key, "" in nestings other than maps.
type blockItem struct {
	label string
	node  *node
}

// heredoc is a string of several lines, with the lines that were removed among those that remain.
type heredoc struct{ lines []diffLine }

// diffLine is a line of a text that is compared by lines.
type diffLine struct {
	effect effect
	text   string
}

// encoded is a string with a JSON document.
type encoded struct {
	doc   *node
	space bool // only white space changes
}

// summarise returns the effect on a container that exists on both sides: changed if any of its items
// changes.
func summarise(items []named) effect {
	for _, it := range items {
		if it.node.effect != same {
			return changed
		}
	}
	return same
}

// sided returns the effect on a value by the sides on which it exists.
func sided(before, after bool) effect {
	switch {
	case before && after:
		return same
	case after:
		return added
	default:
		return removed
	}
}

// symbolFor returns the symbol of an action, padded to the three columns of the margin, and its style.
func symbolFor(a plan.Action) (string, style) {
	switch a {
	case plan.Create:
		return "  +", green
	case plan.Read:
		return " <=", cyan
	case plan.Update:
		return "  ~", yellow
	case plan.Delete:
		return "  -", red
	case plan.DeleteThenCreate:
		return "-/+", red
	case plan.CreateThenDelete:
		return "+/-", green
	case plan.ForgetThenCreate:
		return "./+", yellow
	case plan.Forget:
		return "  .", yellow
	default:
		return "   ", plain
	}
}
