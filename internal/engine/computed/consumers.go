package computed

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// ConsumersOf returns the resources that use a computed value which a change makes.
func ConsumersOf(c *plan.Change, path cty.Path) (to []addr.ConfigResource) {
	for _, w := range c.Withheld {
		if w.Path.Equals(path) {
			to = append(to, BlocksOf(slices.Concat(w.Consumers, w.Missed))...)
		}
	}
	return to
}
