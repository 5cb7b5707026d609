package plugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// keeper is a provider with the state store fake_s, which answers as the handlers say, and returns a state in
// chunks.
func keeper(t *testing.T, size int64, chunks []proto.Message, more handlers) provider.StateStores {
	store := blockSchema(t, &tfplugin6.Schema_Attribute{Name: "dir", Type: []byte(`"string"`), Optional: true})
	h := handlers{
		"GetProviderSchema": answer(bytesMessage(slices.Concat(simpleResponse(t), entry(fieldStateStores, "fake_s", store)))),
		"ConfigureStateStore": answer(&tfplugin6.ConfigureStateStore_Response{
			Capabilities: &tfplugin6.StateStoreServerCapabilities{ChunkSize: size},
		}),
	}
	for name, f := range more {
		h[name] = f
	}
	return rawStreams(t, h, map[string][]proto.Message{"ReadStateBytes": chunks}).StateStores()
}

var storeConfig = cty.ObjectVal(map[string]cty.Value{"dir": cty.StringVal("here")})

func TestStateStores(t *testing.T) {
	s := keeper(t, 4, []proto.Message{
		&tfplugin6.ReadStateBytes_ResponseChunk{Bytes: []byte("abcd"), TotalLength: 6, Range: &tfplugin6.StateByteRange{End: 3}},
		&tfplugin6.ReadStateBytes_ResponseChunk{Bytes: []byte("ef"), TotalLength: 6, Range: &tfplugin6.StateByteRange{Start: 4, End: 5}},
	}, handlers{
		"ValidateStateStoreConfig": answer(&tfplugin6.ValidateStateStoreConfig_Response{Diagnostics: []*tfplugin6.Diagnostic{{Severity: tfplugin6.Diagnostic_WARNING, Summary: "looked at"}}}),
		"GetStates":                answer(&tfplugin6.GetStates_Response{StateIds: []string{"a", "b"}}),
		"LockState":                answer(&tfplugin6.LockState_Response{LockId: "l"}),
		"UnlockState":              answer(&tfplugin6.UnlockState_Response{}),
		"DeleteState":              answer(&tfplugin6.DeleteState_Response{Diagnostics: []*tfplugin6.Diagnostic{{Summary: "no"}}}),
	})
	ctx := soon(t)
	wantOne(t, s.ValidateStateStore(ctx, "fake_s", storeConfig), diag.Warning, "looked at")
	wantNone(t, s.ConfigureStateStore(ctx, "fake_s", storeConfig))
	data, diags := s.ReadState(ctx, "fake_s", "a")
	wantNone(t, diags)
	if string(data) != "abcdef" {
		t.Errorf("ReadState: got %q, want \"abcdef\"", data)
	}
	ids, diags := s.States(ctx, "fake_s")
	wantNone(t, diags)
	if !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("states: got %q, want %q", ids, []string{"a", "b"})
	}
	lock, refused, diags := s.LockState(ctx, "fake_s", "a", "test")
	wantNone(t, append(diags, s.UnlockState(ctx, "fake_s", "a", lock)...))
	if lock != "l" || refused {
		t.Errorf("LockState: got lock %q, refused %t, want \"l\", not refused", lock, refused)
	}
	wantOne(t, s.DeleteState(ctx, "fake_s", "a"), diag.Error, "no")
	wantOne(t, s.ConfigureStateStore(ctx, "fake_t", storeConfig), diag.Error, `has no state store "fake_t"`)
	wantOne(t, s.WriteState(ctx, "fake_s", "a", nil), diag.Error, "no content")
}

func TestStateStoresThatMisbehave(t *testing.T) {
	for _, size := range []int64{0, -1, largestChunk + 1} {
		wantOne(t, keeper(t, size, nil, nil).ConfigureStateStore(soon(t), "fake_s", storeConfig), diag.Error, fmt.Sprintf("chunks of %d bytes", size))
	}
	s := keeper(t, 2, []proto.Message{&tfplugin6.ReadStateBytes_ResponseChunk{Bytes: []byte("abcd"), TotalLength: 4, Range: &tfplugin6.StateByteRange{End: 3}}}, handlers{
		"LockState": answer(&tfplugin6.LockState_Response{Diagnostics: []*tfplugin6.Diagnostic{{Summary: "held"}}}),
		"GetStates": func() (proto.Message, error) { return nil, errors.New("out of order") },
	})
	wantNone(t, s.ConfigureStateStore(soon(t), "fake_s", storeConfig))
	if data, diags := s.ReadState(soon(t), "fake_s", "a"); data != nil || !strings.Contains(diags.Err().Error(), "a chunk has 4 bytes, more than the 2") {
		t.Errorf("%q, %v", data, diags)
	}
	if _, refused, diags := s.LockState(soon(t), "fake_s", "a", "test"); !refused || !diags.HasErrors() {
		t.Errorf("refused %t, %v", refused, diags)
	}
	if _, diags := s.States(soon(t), "fake_s"); !diags.HasErrors() {
		t.Error("a failed call is no error")
	}
	failing := keeper(t, 2, []proto.Message{&tfplugin6.ReadStateBytes_ResponseChunk{Diagnostics: []*tfplugin6.Diagnostic{{Summary: "no such state"}}}}, nil)
	wantNone(t, failing.ConfigureStateStore(soon(t), "fake_s", storeConfig))
	_, diags := failing.ReadState(soon(t), "fake_s", "a")
	wantOne(t, diags, diag.Error, "no such state")
}
