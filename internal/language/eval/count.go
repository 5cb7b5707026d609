package eval

import (
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// countObjects has count, as expressions see it, for the first indexes. Instances with the same index share
// one: building it costs more than all else that evaluating a simple configuration takes.
type countObjects [1000]atomic.Pointer[cty.Value]

// of returns count for an index.
func (c *countObjects) of(index int) cty.Value {
	if index >= len(c) {
		return countObject(index)
	}
	known := c[index].Load()
	if known == nil {
		made := countObject(index)
		known = &made
		c[index].Store(known)
	}
	return *known
}

func countObject(index int) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(int64(index))})
}

// countIndex returns the value of a reference to count.index. It returns false for other references, and if
// the index is not known.
func (sc *scope) countIndex(ref *lang.Ref) (int, bool) {
	if ref.Kind != lang.Count || ref.Invalid || sc.each == nil || sc.each.generic() || sc.each.key.Kind() != addr.KeyInt {
		return 0, false
	}
	return sc.each.key.Int(), true
}
