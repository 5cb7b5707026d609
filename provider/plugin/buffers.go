package plugin

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
)

// init replaces the buffers of the gRPC library, which serves providers in this process and carries what
// plugins write. Messages contain secrets, and the library would keep them in its buffers for the life of a
// connection or a pool. So its connections have no buffers of their own, and the shared buffers are
// overwritten when they are returned.
func init() { experimental.SetDefaultBufferPool(wipingPool{mem.DefaultBufferPool()}) }

// unbuffered makes a connection read and write without buffers of its own. Only the reader of an encrypted
// connection keeps the last record that it received.
var unbuffered = []grpc.DialOption{grpc.WithReadBufferSize(0), grpc.WithWriteBufferSize(0)}

// wipingPool overwrites buffers that are returned to it.
type wipingPool struct{ mem.BufferPool }

// Put implements mem.BufferPool.
func (p wipingPool) Put(b *[]byte) {
	clear((*b)[:cap(*b)])
	p.BufferPool.Put(b)
}
