package simprovider

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// newStore returns a state store with the configuration, in JSON.
func newStore(t *testing.T, config string) *stateStores {
	t.Helper()
	s := &stateStores{core: newRig(t).core, schemas: stateStoreSchemas()}
	resp, err := s.ConfigureStateStore(t.Context(), &tfprotov6.ConfigureStateStoreRequest{
		TypeName: typeFiles, Config: jsonValue(`{"dir":"d","note":null,"key":null,"chunk_size":4,"lockless":null,"label":[],"fault":` + config + `}`),
		Capabilities: &tfprotov6.ConfigureStateStoreClientCapabilities{ChunkSize: 100},
	})
	if err != nil || len(resp.Diagnostics) > 0 || resp.Capabilities.ChunkSize != 4 {
		t.Fatalf("got %+v, %v, want chunks of 4", resp, err)
	}
	return s
}

// written writes the chunks of a state that another engine would send.
func written(t *testing.T, s *stateStores, chunks []tfprotov6.ReadStateByteChunk) []*tfprotov6.Diagnostic {
	t.Helper()
	resp, err := s.WriteStateBytes(t.Context(), &tfprotov6.WriteStateBytesStream{Chunks: func(yield func(*tfprotov6.WriteStateBytesChunk, []*tfprotov6.Diagnostic) bool) {
		for i, c := range chunks {
			out := &tfprotov6.WriteStateBytesChunk{StateByteChunk: c.StateByteChunk}
			if i == 0 {
				out.Meta = &tfprotov6.WriteStateChunkMeta{TypeName: typeFiles, StateID: "default"}
			}
			if !yield(out, nil) {
				return
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Diagnostics
}

func (s *stateStores) all(t *testing.T) string {
	t.Helper()
	stream, err := s.ReadStateBytes(t.Context(), &tfprotov6.ReadStateBytesRequest{TypeName: typeFiles, StateID: "default"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for c := range stream.Chunks {
		out.Write(c.Bytes)
	}
	return out.String()
}

func TestStateStore(t *testing.T) {
	s := newStore(t, "null")
	if got := s.all(t); got != "" {
		t.Errorf("state that does not exist: got %q, want none", got)
	}
	if diags := written(t, s, cut([]byte("0123456789"), 4)); len(diags) > 0 {
		t.Fatal(diags[0].Detail)
	}
	if got := s.all(t); got != "0123456789" {
		t.Errorf("read: got %q, want %q", got, "0123456789")
	}
	for name, wrong := range map[string][]tfprotov6.ReadStateByteChunk{
		"sizes": cut([]byte("0123456789"), 3), "a gap": slices.Delete(cut([]byte("0123456789"), 4), 1, 2), "no end": cut([]byte("0123456789"), 4)[:2], "nothing": nil,
	} {
		if diags := written(t, s, wrong); len(diags) == 0 {
			t.Errorf("%s: accepted", name)
		}
	}
	if got := s.all(t); got != "0123456789" {
		t.Errorf("after refused writes: got %q, want %q", got, "0123456789")
	}
	lock, err := s.LockState(t.Context(), &tfprotov6.LockStateRequest{TypeName: typeFiles, StateID: "default", Operation: "test"})
	if err != nil || lock.LockID == "" {
		t.Fatal(lock, err)
	}
	again, err := s.LockState(t.Context(), &tfprotov6.LockStateRequest{TypeName: typeFiles, StateID: "default", Operation: "test"})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, again.Diagnostics, lock.LockID)
	wrong, err := s.UnlockState(t.Context(), &tfprotov6.UnlockStateRequest{TypeName: typeFiles, StateID: "default", LockID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, wrong.Diagnostics, "another ID")
}

// TestStateStoreFaults requires that each fault in reading is one.
func TestStateStoreFaults(t *testing.T) {
	for _, fault := range []string{"short", "gap", "order", "length", "long", "big"} {
		s := newStore(t, `"`+fault+`"`)
		if diags := written(t, s, cut([]byte("0123456789"), 4)); len(diags) > 0 {
			t.Fatal(diags[0].Detail)
		}
		stream, err := s.ReadStateBytes(t.Context(), &tfprotov6.ReadStateBytesRequest{TypeName: typeFiles, StateID: "default"})
		if err != nil {
			t.Fatal(err)
		}
		if diags := written(t, s, slices.Collect(stream.Chunks)); len(diags) == 0 {
			t.Errorf("%s is no fault", fault)
		}
	}
}
