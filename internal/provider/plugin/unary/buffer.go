package unary

import (
	"encoding/binary"
	"errors"
	"sync"

	"google.golang.org/protobuf/proto"
)

// prefix is the length of the prefix of a message, which says whether it is compressed, and its length.
const prefix = 5

// firstRoom is the most memory that a response gets before any of its content has come.
const firstRoom = 64 << 20

// keptBuffer is the capacity up to which buffers are used again. Larger ones are rare, and would stay in
// memory at their size.
const keptBuffer = 16 << 10

// buffer has a message with its prefix, or several, one after the other. The zero value is empty.
//
//	0 | length, 4 bytes, big endian | message
type buffer struct{ bytes []byte }

// pool has buffers that were overwritten.
var pool = sync.Pool{New: func() any { return new([]byte) }}

// newRequest returns a buffer with encoded messages, one after the other, each with a prefix of its own. It
// fails if one of them is longer than the protocol allows.
func newRequest(messages ...proto.Message) (buffer, error) {
	all := 0
	for _, m := range messages {
		size := proto.Size(m)
		if size > maxMessage {
			return buffer{}, errors.New("too long")
		}
		all += prefix + size
	}
	b := newBuffer(all)
	for _, m := range messages {
		head := len(b.bytes)
		data, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(append(b.bytes, 0, 0, 0, 0, 0), m)
		if err != nil {
			b.free()
			return buffer{}, err
		}
		binary.BigEndian.PutUint32(data[head+1:], uint32(len(data)-head-prefix))
		b.bytes = data
	}
	return b, nil
}

// newBuffer returns an empty buffer with room for size bytes.
func newBuffer(size int) buffer {
	if size > keptBuffer {
		return buffer{make([]byte, 0, size)}
	}
	b := *pool.Get().(*[]byte)
	if cap(b) < size {
		b = make([]byte, 0, max(size, 512))
	}
	return buffer{b[:0]}
}

// content returns the message without its prefix.
func (b buffer) content() []byte { return b.bytes[prefix:] }

// free overwrites the buffer, which must not be used any more.
func (b buffer) free() {
	all := b.bytes[:cap(b.bytes)]
	clear(all)
	if len(all) > 0 && len(all) <= keptBuffer {
		pool.Put(&all)
	}
}

// grow returns b with room for n more bytes. If it moves, the memory that it leaves is overwritten.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	bigger := make([]byte, len(b), max(2*cap(b), len(b)+n, 4<<10))
	copy(bigger, b)
	clear(b)
	return bigger
}
