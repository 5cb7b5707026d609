package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// remembered returns the value of all instances of a call with the named outputs, which build makes: once in a run, however many read it. With an output that
// may come from ephemeral resources it belongs to its reader, and is made for each.
//
// Readers that ask at the same time may each make it. The values of the outputs are made once in any case, and it is a function of them.
func (c *Call) remembered(names map[string]*hcl.Range, build func() cty.Value) cty.Value {
	for name := range names {
		if c.mayOpen(name) {
			return build()
		}
	}
	key := strings.Join(slices.Sorted(maps.Keys(names)), ",")
	if got, ok := c.values.Load(key); ok {
		return got.(cty.Value)
	}
	got := build()
	c.values.Store(key, got)
	return got
}
