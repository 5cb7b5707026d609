package plugin

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/mem"
)

// E55: what is given back to the pool of message buffers is overwritten.
func TestE55_BuffersAreOverwritten(t *testing.T) {
	pool := wipingPool{mem.NopBufferPool{}}
	for _, size := range []int{1, 300, 5000, 2 << 20} {
		b := pool.Get(size)
		all := (*b)[:cap(*b)]
		for i := range all {
			all[i] = 'x'
		}
		*b = (*b)[:size/2]
		pool.Put(b)
		if bytes.IndexByte(all, 'x') >= 0 {
			t.Errorf("a buffer of %d bytes keeps what it held", size)
		}
	}
	if _, ok := mem.DefaultBufferPool().(wipingPool); !ok {
		t.Errorf("connections use a %T", mem.DefaultBufferPool())
	}
}
