package state

import "slices"

// whole is a state file in memory while it is encoded. When it has to grow, it expects the instances that are
// left to be as large as those before. So a large file is seldom copied, and its memory has little room left.
type whole struct {
	encoder   encoder
	instances int // of the file
	text      []byte
}

// encode encodes f.
func (b *whole) encode(f *File) error {
	for _, r := range f.State.Resources {
		b.instances += len(r.Instances)
	}
	b.encoder.w = b
	return b.encoder.file(f)
}

// Write implements io.Writer.
func (b *whole) Write(p []byte) (int, error) {
	if size := len(b.text) + len(p); size > cap(b.text) {
		b.text = slices.Grow(b.text, len(p)+b.left(size))
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// left returns how much is expected to follow after size bytes.
func (b *whole) left(size int) int {
	e := &b.encoder
	if e.done == 0 {
		return 0
	}
	n := (size - e.before) / e.done * (b.instances - e.done)
	return n + n/32
}
