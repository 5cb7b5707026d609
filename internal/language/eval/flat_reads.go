package eval

import (
	"slices"

	"github.com/mayfly-iac/mayfly/internal/base/future"
)

// maxFlatReads bounds the size of a flat read-set that only one value has: many values with long sets of
// their own would take quadratic space.
const maxFlatReads = 32

// flatReads returns the objects that v reads directly and through other values, without these values, so that
// finding the dependencies at the end of a long chain of values takes no walk along it. Most values in a
// chain read the same and share one set. It returns nil if the set would be long and not shared; the read-set
// must be walked then.
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

// union returns the union of a and b, neither of which contains values. It returns a or b itself if that
// contains the other, and nil if the union is too long.
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

// difference returns a new slice of the elements of some that are not in all.
func difference[T any](some, all []T, same func(x, y T) bool) []T {
	return slices.DeleteFunc(slices.Clone(some), func(x T) bool {
		return slices.ContainsFunc(all, func(y T) bool { return same(x, y) })
	})
}
