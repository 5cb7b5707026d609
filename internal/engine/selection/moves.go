package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// maxMovesShown bounds the list of options in an error.
const maxMovesShown = 20

// PartialMoves returns an error for moves that -target or -exclude would leave out: the state would have the
// object at its new address although the plan says nothing about it. moved has the earlier address of each
// object by the new one. An object that is asked for by its new address alone is moved with the plan; one
// that is excluded by its old address is meant not to be touched at all. places is where the addresses of
// the selection are written.
func (s *Selection) PartialMoves(moved map[addr.Instance]addr.Instance, places config.OptionPlaces) diag.List {
	target, exclude := "-target='%s'", "-exclude='%s'"
	place := cmp.Or(places.Targets.At(0), places.Excludes.At(0))
	if place != nil {
		target, exclude = "%s", "%s"
	}
	var out []string
	for to, from := range moved {
		if !s.targets.Empty() && !s.targets.Selects(to) {
			out = append(out, fmt.Sprintf(target, to))
		}
		excluding := func(i int) { out = append(out, fmt.Sprintf(exclude, s.excluding[i])) }
		s.excludes.Selecting(to, excluding)
		s.excludes.Selecting(from, excluding)
	}
	if len(out) == 0 {
		return nil
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if n := len(out) - maxMovesShown; n > 0 {
		out = append(out[:maxMovesShown], fmt.Sprintf("and %d more", n))
	}
	why, advice := "the -target options do not cover all of them", "Leave out all -target options, or add these"
	switch {
	case place != nil && s.targets.Empty():
		why, advice = "the argument \"exclude\" names some of them", "Leave out these addresses"
	case place != nil:
		why, advice = "the argument \"target\" does not cover all of them", "Leave out the argument, or add these addresses"
	case s.targets.Empty():
		why, advice = "the -exclude options name some of them", "Leave out these options"
	}
	diags := diag.Errorf("Moved resource instances excluded by targeting",
		"Objects in the state have new addresses in the configuration, and %s. The state would have them at the new addresses although the plan does not show that. %s:\n\n  %s", why, advice, strings.Join(out, "\n  "))
	diags[0].Subject = place
	return diags
}
