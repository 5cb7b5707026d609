package plugin

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// A state travels in chunks, each with the range of its bytes in the state, whose end is the position of the
// last byte, and the length of the state. All but the last have the size that the provider has chosen.

// largestState is the most that a provider may return, in bytes.
const largestState = 1 << 30

// split returns the chunks of data, none if there is no data or no size.
func split(data []byte, size int64) []*tfplugin6.WriteStateBytes_RequestChunk {
	var out []*tfplugin6.WriteStateBytes_RequestChunk
	total := int64(len(data))
	for at := int64(0); size > 0 && at < total; at += size {
		end := min(at+size, total)
		out = append(out, &tfplugin6.WriteStateBytes_RequestChunk{
			Bytes: data[at:end], TotalLength: total, Range: &tfplugin6.StateByteRange{Start: at, End: end - 1},
		})
	}
	return out
}

// joiner joins the chunks of a state as they come. After the first one that does not fit, it takes no more.
type joiner struct {
	limit int64 // of the bytes of a chunk
	total int64 // that the first chunk announces
	begun bool  // there was a chunk with bytes
	data  []byte
	diags []*tfplugin6.Diagnostic
	fault string // a mistake in the chunks; "" for none
}

// take adds an encoded chunk, and returns false once there is a fault.
func (j *joiner) take(response []byte) bool {
	if j.fault != "" {
		return false
	}
	var in tfplugin6.ReadStateBytes_ResponseChunk
	if err := proto.Unmarshal(response, &in); err != nil {
		j.fault = "a chunk is not well-formed"
		return false
	}
	j.diags = append(j.diags, in.Diagnostics...)
	if len(in.Bytes) == 0 && in.TotalLength == 0 {
		return true // diagnostics only, or a state that does not exist
	}
	if j.fault = j.check(&in); j.fault != "" {
		return false
	}
	j.begun, j.total = true, in.TotalLength
	j.data = append(j.data, in.Bytes...)
	return true
}

// check returns why a chunk does not fit behind those before it; "" if it does.
func (j *joiner) check(in *tfplugin6.ReadStateBytes_ResponseChunk) string {
	have, size := int64(len(j.data)), int64(len(in.Bytes))
	switch start, end := in.GetRange().GetStart(), in.GetRange().GetEnd(); {
	case size > j.limit:
		return fmt.Sprintf("a chunk has %d bytes, more than the %d that were agreed on", size, j.limit)
	case in.TotalLength > largestState:
		return fmt.Sprintf("it announces a state of %d bytes", in.TotalLength)
	case j.begun && in.TotalLength != j.total:
		return fmt.Sprintf("it announces a state of %d bytes, and then one of %d", j.total, in.TotalLength)
	case size == 0:
		return "a chunk is empty"
	case start != have:
		return fmt.Sprintf("a chunk begins at byte %d where byte %d follows", start, have)
	case end != start+size-1:
		return fmt.Sprintf("a chunk of %d bytes is said to extend from byte %d to byte %d", size, start, end)
	case end >= in.TotalLength:
		return fmt.Sprintf("a chunk extends beyond the announced %d bytes", in.TotalLength)
	}
	return ""
}

// end checks that the state is complete.
func (j *joiner) end() {
	if int64(len(j.data)) != j.total {
		j.fault = fmt.Sprintf("it announces a state of %d bytes, and only %d came", j.total, len(j.data))
	}
}
