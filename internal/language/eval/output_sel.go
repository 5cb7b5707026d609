package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// outputSelOf returns a selection of the outputs whose names are the keys; "" among them means all.
func outputSelOf(outputs map[string]*hcl.Range) outputSel {
	if _, every := outputs[""]; every {
		return outputSel{}
	}
	return outputSel{names: strings.Join(slices.Sorted(maps.Keys(outputs)), ",")}
}

// sharedValue returns the value of a selection of outputs of all instances, built once for all references.
// The outputs must open nothing. With the computed values that operations have, it is built once too.
func (c *Call) sharedValue(b *builder, e *expansion, p *modulePart, sel outputSel, via *hcl.Range) cty.Value {
	got, cycle := c.aggregate(sel).value.Get(b.sc.t, c.name, via, func() cty.Value {
		durable := &builder{run: b.run, sc: b.sc.m.scope(b.sc.t)}
		return durable.allChildren(c, e, p)
	})
	if cycle != nil {
		b.run.ReportCycle(cycle)
		return cty.DynamicVal
	}
	if o := b.sc.opened; o.lacks(b.run, got) {
		return c.aggregate(sel).kept.of(b.run, o, o.form(), func() cty.Value { return b.allChildren(c, e, p) }).got
	}
	return got
}
