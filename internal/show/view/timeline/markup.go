package timeline

import (
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/hypertext"
)

// markup is text of the page that this package wrote; see hypertext.Markup.
type markup = hypertext.Markup

// page is a document being written.
type page struct{ hypertext.Page }

// percent returns a position or width on the axis.
func percent(x float64) markup { return markup(number(x, 3) + "%") }

// count returns a whole number as markup.
var count = hypertext.Count

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// class returns the style class of an operation; each class has an entry in the legend and a colour in the
// style sheet. The evaluation of an output or a condition with an ephemeral value is not an operation on an
// object.
func class(op event.Op) markup {
	switch op {
	case event.OpCreate:
		return "create"
	case event.OpUpdate:
		return "update"
	case event.OpDelete, event.OpForget:
		return "delete"
	case event.OpRead, event.OpRefresh, event.OpImport, event.OpAdopt:
		return "read"
	case event.OpPlan:
		return "plan"
	case event.OpProvision:
		return "provision"
	case event.OpConfigure:
		return "configure"
	case event.OpOpen:
		return "other"
	default:
		return "evaluate"
	}
}

// verb returns the word for a use of an ephemeral instance.
func verb(op event.Op) string {
	switch op {
	case event.OpOpen:
		return "held while open"
	case event.OpConfigure:
		return "configured with it"
	case event.OpProvision:
		return "provision"
	default:
		return string(op)
	}
}

// phaseNames returns the titles of the phases of a run. If it has several plans, each begins a round.
func phaseNames(phases []span) []string {
	var names []string
	var plans []int
	for i, ph := range phases {
		if ph.op == event.OpApplying {
			names = append(names, "Applying")
			continue
		}
		names, plans = append(names, "Planning"), append(plans, i)
	}
	if len(plans) > 1 {
		for round, i := range plans {
			names[i] = "Round " + strconv.Itoa(round+1) + ": planning"
		}
	}
	return names
}

// axisNames returns the names of the phases on the axis: "" for a name that would overlap another one. A
// round is marked rather than the apply in it, by its number alone if need be.
func axisNames(m *model) []string {
	names := phaseNames(m.phases)
	free := 0.0 // where the last name ends
	for i, name := range names {
		x, next, round := m.scale.x(m.phases[i].from), 100.0, 100.0
		for j := len(names) - 1; j > i; j-- {
			next = m.scale.x(m.phases[j].from)
			if m.phases[j].op != event.OpApplying {
				round = next
			}
		}
		number, _, isRound := strings.Cut(name, ":")
		switch {
		case isRound && next-x >= roundMargin:
			free = x + roundMargin
		case isRound && round-x >= nameMargin:
			names[i], free = number, x+nameMargin
		case !isRound && x >= free && (i == len(names)-1 || next-x >= nameMargin):
			free = x + nameMargin
		default:
			names[i] = ""
		}
	}
	return names
}
