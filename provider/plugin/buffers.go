package plugin

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
)

// init replaces the transport's buffers. Messages carry secrets, and the transport would keep them in its
// buffers for as long as a connection lives or a pool holds them. So connections have no buffers of their
// own, and the buffers that all of them share are overwritten when they are given back.
func init() { experimental.SetDefaultBufferPool(wipingPool{mem.DefaultBufferPool()}) }

// unbuffered makes a connection read and write without buffers of its own. What reads an encrypted one keeps
// the last record that it received.
var unbuffered = []grpc.DialOption{grpc.WithReadBufferSize(0), grpc.WithWriteBufferSize(0)}

// wipingPool overwrites what is put back.
type wipingPool struct{ mem.BufferPool }

// Put implements mem.BufferPool.
func (p wipingPool) Put(b *[]byte) {
	clear((*b)[:cap(*b)])
	p.BufferPool.Put(b)
}
