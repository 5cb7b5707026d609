package eval

import (
	"slices"

	"github.com/mayfly-iac/mayfly/future"
)

// maxFlatReads bounds a set of reads that a value keeps for itself: what many values each keep of the same
// must not add up to their number times its size.
const maxFlatReads = 32

// flatReads returns what v reads directly and through other values, without these values. With it, finding
// what depends on the end of a long chain of values takes no walk along the chain. Most values of a chain
// read the same and share one set. flatReads returns nil if the set would be long and shared with no other
// value; the read-set has to be walked then.
func (v *Value) flatReads(t *future.Task) *reads {
	got, cycle := v.flat.Get(t, v, nil, func() *reads {
		own := v.readSet(t)
		if v.guard != nil {
			own = &reads{}
			own.add(v.readSet(t))
			own.add(v.guardReads(t))
		}
		out := &reads{resources: own.resources, calls: own.calls, providers: own.providers, modules: own.modules}
		for _, child := range own.values {
			more := child.flatReads(t)
			if more == nil {
				return nil
			}
			if out = union(out, more); out == nil {
				return nil
			}
		}
		return out
	})
	if cycle != nil {
		return nil
	}
	return got
}

func (r *reads) length() int {
	return len(r.resources) + len(r.calls) + len(r.providers) + len(r.modules)
}

// union returns the set of what a and b read, neither of which reads values: one of the two if it has all
// that the other has, nil if it is long.
func union(a, b *reads) *reads {
	switch {
	case a == b || a.length() == 0:
		return b
	case b.length() == 0:
		return a
	case a.length()+b.length() > 2*maxFlatReads:
		return nil
	case a.length() > b.length():
		a, b = b, a
	}
	more := &reads{
		resources: difference(a.resources, b.resources, func(x, y resourceRead) bool { return x.res == y.res && x.selection == y.selection }),
		calls:     difference(a.calls, b.calls, func(x, y *Call) bool { return x == y }),
		providers: difference(a.providers, b.providers, func(x, y *ProviderObject) bool { return x == y }),
		modules:   difference(a.modules, b.modules, func(x, y moduleRead) bool { return x == y }),
	}
	if more.length() == 0 {
		return b
	}
	if more.length()+b.length() > maxFlatReads {
		return nil
	}
	more.add(b)
	return more
}

// difference returns a new slice of what is in some but not in all.
func difference[T any](some, all []T, same func(x, y T) bool) []T {
	var out []T
	for _, x := range some {
		if !slices.ContainsFunc(all, func(y T) bool { return same(x, y) }) {
			out = append(out, x)
		}
	}
	return out
}
