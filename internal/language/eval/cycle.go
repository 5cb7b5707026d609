package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// ReportCycle reports a cycle as an ordered chain with the position of each reference. The chain starts at
// the smallest address, so that the text does not depend on which task found the cycle.
func (r *Run) ReportCycle(c *future.Cycle) {
	same := func(a, b future.Frame) bool { return a.Label == b.Label } // steps of work on the same object
	frames := slices.CompactFunc(slices.Clone(c.Frames), same)
	if n := len(frames); n > 1 && same(frames[n-1], frames[0]) {
		frames = frames[1:]
	}
	n := len(frames)
	if n == 0 {
		return
	}
	names, vias := make([]string, n), make([]*hcl.Range, n)
	for i, f := range frames {
		names[i] = labelText(f.Label)
		switch l := f.Label.(type) {
		case *Value:
			l.circular.Store(true)
		case *Instance:
			l.circular.Store(true)
		}
		vias[i], _ = frames[(i+1)%n].Via.(*hcl.Range)
	}
	if slices.ContainsFunc(frames, func(f future.Frame) bool { return r.cycled.has(blockAddress(f.Label)) }) {
		return
	}
	r.Report(blocks.Cycle(names, vias))
}

// ReportBlockCycles reports the cycles among blocks, which are known before anything is demanded. The run
// does not report cycles among the same blocks again.
func (r *Run) ReportBlockCycles() {
	for _, c := range r.cfg.BlockCycles() {
		r.Report(c.Diags)
		for _, address := range c.Blocks {
			r.cycled.add(address)
		}
	}
}

// blockAddress returns the address of the block that a frame of a cycle concerns, "" if it concerns no
// block.
func blockAddress(label any) string {
	switch l := label.(type) {
	case *Value:
		return l.block.Address()
	case *Instance:
		return l.Resource.Block.Address()
	case *Resource:
		return l.Block.Address()
	default:
		return ""
	}
}

// labelText returns the address of the object that a frame of a cycle is about.
func labelText(label any) string {
	switch l := label.(type) {
	case *Value:
		return l.Addr()
	case *Instance:
		return l.Addr().String()
	case *Resource:
		return l.Addr().String()
	case *ProviderObject:
		return l.Addr.String()
	case string:
		return l
	case *config.Import:
		return "an import block"
	default:
		return "an object"
	}
}
