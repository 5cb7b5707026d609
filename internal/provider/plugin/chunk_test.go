package plugin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// sentBack returns the chunks of a state as a provider returns those that it was sent.
func sentBack(data []byte, size int64) []*tfplugin6.ReadStateBytes_ResponseChunk {
	var out []*tfplugin6.ReadStateBytes_ResponseChunk
	for _, c := range split(data, size) {
		out = append(out, &tfplugin6.ReadStateBytes_ResponseChunk{
			Bytes: bytes.Clone(c.Bytes), TotalLength: c.TotalLength, Range: proto.CloneOf(c.Range),
		})
	}
	return out
}

// joinAll joins chunks as ReadState does.
func joinAll(t testing.TB, chunks []*tfplugin6.ReadStateBytes_ResponseChunk, limit int64) (data []byte, fault string) {
	j := &joiner{limit: limit}
	for _, c := range chunks {
		if !j.take(encoded(t, c)) {
			break
		}
	}
	if j.fault == "" {
		j.end()
	}
	return j.data, j.fault
}

// TestChunksOfAnySize splits random states into chunks of random sizes, and joins them again. Then it makes
// one mistake at a random chunk, each of which must be noticed.
func TestChunksOfAnySize(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "data")
		size := int64(rapid.IntRange(1, 310).Draw(rt, "size"))
		chunks := sentBack(data, size)
		for i, c := range chunks {
			if n := int64(len(c.Bytes)); n > size || n == 0 || n != size && i < len(chunks)-1 {
				rt.Fatalf("chunk %d of %d: got %d bytes, want %d, or fewer in the last one", i, len(chunks), n, size)
			}
		}
		if got, fault := joinAll(t, chunks, size); fault != "" || !bytes.Equal(got, data) {
			rt.Fatalf("joined chunks: got %d bytes and fault %q, want the same %d bytes", len(got), fault, len(data))
		}
		if len(chunks) == 0 {
			return
		}
		at := rapid.IntRange(0, len(chunks)-1).Draw(rt, "at")
		mistake := rapid.SampledFrom(chunkMistakes).Draw(rt, "mistake")
		wrong, some := mistake.make(chunks, at, size)
		if !some {
			return
		}
		if _, fault := joinAll(t, wrong, size); fault == "" {
			rt.Fatalf("%s at chunk %d of %d is not noticed", mistake.name, at, len(chunks))
		}
	})
}

type chunkMistake struct {
	name string
	// make makes the mistake at a chunk; false if there it would be none.
	make func(chunks []*tfplugin6.ReadStateBytes_ResponseChunk, at int, size int64) ([]*tfplugin6.ReadStateBytes_ResponseChunk, bool)
}

type responseChunks = []*tfplugin6.ReadStateBytes_ResponseChunk

// change is a mistake in the content of one chunk.
func change(name string, f func(c *tfplugin6.ReadStateBytes_ResponseChunk)) chunkMistake {
	return chunkMistake{name, func(chunks responseChunks, at int, _ int64) (responseChunks, bool) {
		f(chunks[at])
		return chunks, true
	}}
}

var chunkMistakes = []chunkMistake{
	{"a missing chunk", func(chunks responseChunks, at int, _ int64) (responseChunks, bool) {
		return slices.Delete(chunks, at, at+1), len(chunks) > 1 // no chunk at all is a state that does not exist
	}},
	{"an early end", func(chunks responseChunks, at int, _ int64) (responseChunks, bool) { return chunks[:at], at > 0 }},
	{"a repeated chunk", func(chunks responseChunks, at int, _ int64) (responseChunks, bool) {
		return slices.Insert(chunks, at, chunks[at]), true
	}},
	{"chunks out of order", func(chunks responseChunks, at int, _ int64) (responseChunks, bool) {
		if at == 0 {
			return chunks, false
		}
		chunks[at-1], chunks[at] = chunks[at], chunks[at-1]
		return chunks, true
	}},
	{"a chunk above the size", func(chunks responseChunks, at int, size int64) (responseChunks, bool) {
		c := chunks[at]
		for int64(len(c.Bytes)) <= size {
			c.Bytes = append(c.Bytes, 'x')
		}
		c.Range.End = c.Range.Start + int64(len(c.Bytes)) - 1
		c.TotalLength = c.Range.End + 1
		return chunks, true
	}},
	change("too many bytes", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.Bytes = append(c.Bytes, 'x') }),
	change("too few bytes", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.Bytes = c.Bytes[1:] }),
	change("a later begin", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.Range.Start++ }),
	change("a later end", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.Range.End++ }),
	change("another length", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.TotalLength++ }),
	change("a negative length", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.TotalLength = -1 }),
	change("a length beyond all bounds", func(c *tfplugin6.ReadStateBytes_ResponseChunk) { c.TotalLength = largestState + 1 }),
}

// TestChunkFaults has one fault each, and the words for it: a fault must be noticed at its chunk, and not
// only in the end.
func TestChunkFaults(t *testing.T) {
	chunk := func(text string, total, start, end int64) *tfplugin6.ReadStateBytes_ResponseChunk {
		return &tfplugin6.ReadStateBytes_ResponseChunk{Bytes: []byte(text), TotalLength: total, Range: &tfplugin6.StateByteRange{Start: start, End: end}}
	}
	first := chunk("abc", 6, 0, 2)
	for _, c := range []struct {
		chunks responseChunks
		want   string
	}{
		{responseChunks{first, chunk("def", 6, 3, 5)}, ""},
		{responseChunks{first, {}, chunk("def", 6, 3, 5), {}}, ""},
		{responseChunks{first}, "it announces a state of 6 bytes, and only 3 came"},
		{responseChunks{chunk("abcd", 4, 0, 3)}, "a chunk has 4 bytes, more than the 3 that were agreed on"},
		{responseChunks{chunk("abc", largestState+1, 0, 2)}, fmt.Sprintf("it announces a state of %d bytes", largestState+1)},
		{responseChunks{chunk("abc", -6, 0, 2)}, "a chunk extends beyond the announced -6 bytes"},
		{responseChunks{first, chunk("def", 7, 3, 5)}, "it announces a state of 6 bytes, and then one of 7"},
		{responseChunks{first, chunk("", 6, 3, 2)}, "a chunk is empty"},
		{responseChunks{first, chunk("ef", 6, 4, 5)}, "a chunk begins at byte 4 where byte 3 follows"},
		{responseChunks{first, chunk("def", 6, 3, 6)}, "a chunk of 3 bytes is said to extend from byte 3 to byte 6"},
		{responseChunks{chunk("abc", 2, 0, 2)}, "a chunk extends beyond the announced 2 bytes"},
		{responseChunks{chunk("a", 0, 0, 0)}, "a chunk extends beyond the announced 0 bytes"},
		{responseChunks{chunk("abc", 6, 0, 2), chunk("def", 6, 3, 5), chunk("g", 6, 6, 6)}, "a chunk extends beyond the announced 6 bytes"},
	} {
		if _, fault := joinAll(t, c.chunks, 3); fault != c.want {
			t.Errorf("joining %v: got %q, want %q", c.chunks, fault, c.want)
		}
	}
	if got := split([]byte("a"), 0); got != nil {
		t.Errorf("without a size, there are the chunks %v", got)
	}
	j := &joiner{limit: 3}
	if j.take([]byte{0xff}) || j.take(nil) || j.fault != "a chunk is not well-formed" {
		t.Errorf("a malformed chunk: got %q, want %q", j.fault, "a chunk is not well-formed")
	}
	if j.take(encoded(t, first)) || len(j.data) > 0 {
		t.Error("a chunk after a fault is taken")
	}
	if j = (&joiner{limit: 3}); j.take(encoded(t, chunk("abcd", 4, 0, 3))) || len(j.data) > 0 {
		t.Error("a chunk with a fault is taken")
	}
}

// TestEmptyChunks has the chunks of states that are empty or do not exist.
func TestEmptyChunks(t *testing.T) {
	warned := &tfplugin6.ReadStateBytes_ResponseChunk{Diagnostics: []*tfplugin6.Diagnostic{{Severity: tfplugin6.Diagnostic_WARNING}}}
	for name, chunks := range map[string]responseChunks{
		"none": {}, "one": {{}}, "with a range": {{Range: &tfplugin6.StateByteRange{Start: 0, End: -1}}}, "a warning": {warned},
		"a warning before a chunk": append(responseChunks{warned}, sentBack([]byte("abc"), 3)...),
	} {
		if data, fault := joinAll(t, chunks, 3); fault != "" || string(data) != strings.TrimPrefix("abc", map[bool]string{true: "abc"}[name != "a warning before a chunk"]) {
			t.Errorf("%s: got %q and fault %q, want \"abc\", or nothing after a warning before a chunk", name, data, fault)
		}
	}
}

// FuzzChunks joins chunks with any content: the result has the announced length or is refused.
func FuzzChunks(f *testing.F) {
	for _, size := range []int64{1, 3, 10} {
		var all []byte
		for _, c := range sentBack([]byte("0123456789"), size) {
			encoded, err := proto.Marshal(c)
			if err != nil {
				f.Fatal(err)
			}
			all = append(append(all, byte(len(encoded))), encoded...)
		}
		f.Add(all, size)
	}
	f.Fuzz(func(t *testing.T, input []byte, limit int64) {
		j := &joiner{limit: limit}
		longest := int64(0)
		for len(input) > 0 {
			n := min(int(input[0]), len(input)-1)
			if !j.take(input[1 : 1+n]) {
				break
			}
			longest = max(longest, int64(n))
			input = input[1+n:]
		}
		if j.fault == "" {
			j.end()
		}
		if j.fault == "" && (int64(len(j.data)) != j.total || len(j.data) > 0 && limit < 1) {
			t.Errorf("joining %v: got %d bytes without a fault, want the announced %d, within the limit %d", j.data, len(j.data), j.total, limit)
		}
	})
}
