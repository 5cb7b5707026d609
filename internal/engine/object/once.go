package object

import (
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
)

// Reads has the objects that were read for a plan, which may be made several times. The zero value has none,
// and nil keeps none. Its methods may be called concurrently.
type Reads struct {
	mu sync.Mutex
	of map[addr.Object]Prior
}

// NewReads returns nil unless a plan may be made again: the objects take a quarter of its memory.
func NewReads(again bool) *Reads {
	if again {
		return &Reads{}
	}
	return nil
}

// Has reports whether the object has been read.
func (r *Reads) Has(o addr.Object) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.of[o]
	return ok
}

// Once reads the object of an operation unless that was done before. It returns false if that failed, which
// was reported.
func (r *Reads) Once(op *Op, read func() (Prior, bool)) (Prior, bool) {
	if r == nil {
		return read()
	}
	r.mu.Lock()
	pr, known := r.of[op.Obj]
	r.mu.Unlock()
	if known {
		return pr, true
	}
	pr, ok := read()
	if ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.of == nil {
			r.of = map[addr.Object]Prior{}
		}
		r.of[op.Obj] = pr
	}
	return pr, ok
}
