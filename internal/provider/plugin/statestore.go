package plugin

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

const (
	// suggestedChunk is the number of bytes of a state in one message that is suggested to providers.
	suggestedChunk = 8 << 20
	// largestChunk is the largest number that a provider may choose. Servers of SDKs accept messages of twice
	// the size.
	largestChunk = 128 << 20
)

// StateStores implements provider.StateKeeper.
func (c *client) StateStores() provider.StateStores { return &stateStores{c: c} }

// stateStores are the state stores of a provider.
type stateStores struct {
	c     *client
	chunk atomic.Int64 // the size that the provider has chosen; 0 before it was configured
}

var (
	_ provider.StateKeeper       = (*client)(nil)
	_ provider.StateStoreCatalog = (*catalog)(nil)
)

// StateStore implements provider.StateStoreCatalog.
func (cat *catalog) StateStore(typeName string) (*schema.Schema, diag.List) {
	l := cat.stateStores[typeName]
	if l == nil {
		return nil, nil
	}
	return l.get(cat.c.name)
}

// StateStoreTypes implements provider.StateStoreCatalog.
func (cat *catalog) StateStoreTypes() []string { return slices.Sorted(maps.Keys(cat.stateStores)) }

// stateStore returns the schema of the exchange's type of state store.
func (x *exchange) stateStore() *schema.Schema {
	cat := x.catalog()
	if cat == nil {
		return nil
	}
	s, diags := cat.StateStore(x.typeName)
	x.diags = append(x.diags, diags...)
	if s == nil && !diags.HasErrors() {
		x.fail("Unsupported type", "Provider %s has no state store %q.", x.c.name, x.typeName)
	}
	return s
}

// ValidateStateStore implements provider.StateStores.
func (s *stateStores) ValidateStateStore(ctx context.Context, typeName string, config cty.Value) diag.List {
	x := s.c.exchange(ctx, "ValidateStateStoreConfig", typeName)
	call[tfplugin6.ValidateStateStoreConfig_Response](x, &tfplugin6.ValidateStateStoreConfig_Request{
		TypeName: typeName, Config: x.encode(x.stateStore(), config, "configuration"),
	})
	return x.diags
}

// ConfigureStateStore implements provider.StateStores. The provider chooses the size of chunks.
func (s *stateStores) ConfigureStateStore(ctx context.Context, typeName string, config cty.Value) diag.List {
	x := s.c.exchange(ctx, "ConfigureStateStore", typeName)
	resp := call[tfplugin6.ConfigureStateStore_Response](x, &tfplugin6.ConfigureStateStore_Request{
		TypeName: typeName, Config: x.encode(x.stateStore(), config, "configuration"),
		Capabilities: &tfplugin6.StateStoreClientCapabilities{ChunkSize: suggestedChunk},
	})
	size := resp.GetCapabilities().GetChunkSize()
	if !x.failed() && (size < 1 || size > largestChunk) {
		x.fail("Provider chose an invalid chunk size", "Provider %s wants the states of %s in chunks of %d bytes; the size must be from 1 to %d. "+
			"This is a bug in the provider: report it to its developers.", x.c.name, typeName, size, largestChunk)
	}
	if !x.failed() {
		s.chunk.Store(size)
	}
	return x.diags
}

// ReadState implements provider.StateStores.
func (s *stateStores) ReadState(ctx context.Context, typeName, id string) ([]byte, diag.List) {
	x := s.c.exchange(ctx, "ReadStateBytes", typeName)
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	in := &joiner{limit: s.chunk.Load()}
	err := s.c.calls.Stream(calling, s.c.method(x.rpc), &tfplugin6.ReadStateBytes_Request{TypeName: typeName, StateId: id}, func(response []byte) {
		if !in.take(response) {
			cancel() // there is no use in the rest
		}
	})
	x.report(in.diags)
	switch {
	case in.fault == "" && err != nil:
		x.diags = append(x.diags, s.c.callError(ctx, x.rpc, err)...)
	case in.fault == "" && !x.failed():
		in.end()
	}
	if in.fault != "" {
		x.fail("Provider returned an incomplete state", "The state %q of the state store %s cannot be used as provider %s returned it: %s. Nothing was changed. "+
			"This is a bug in the provider: report it to its developers.", id, typeName, x.c.name, in.fault)
	}
	if x.failed() {
		return nil, x.diags
	}
	return in.data, x.diags
}

// WriteState implements provider.StateStores.
func (s *stateStores) WriteState(ctx context.Context, typeName, id string, data []byte) diag.List {
	x := s.c.exchange(ctx, "WriteStateBytes", typeName)
	var chunks []proto.Message
	for _, chunk := range split(data, s.chunk.Load()) {
		chunks = append(chunks, chunk)
	}
	if len(chunks) == 0 {
		x.fail("Nothing to write", "There is no content to write to the state %q of the state store %s.", id, typeName)
		return x.diags
	}
	chunks[0].(*tfplugin6.WriteStateBytes_RequestChunk).Meta = &tfplugin6.RequestChunkMeta{TypeName: typeName, StateId: id}
	resp := &tfplugin6.WriteStateBytes_Response{}
	if err := s.c.calls.CallMany(ctx, s.c.method(x.rpc), chunks, resp); err != nil {
		x.diags = append(x.diags, s.c.callError(ctx, x.rpc, err)...)
		return x.diags
	}
	x.report(resp.Diagnostics)
	return x.diags
}

// States implements provider.StateStores.
func (s *stateStores) States(ctx context.Context, typeName string) ([]string, diag.List) {
	x := s.c.exchange(ctx, "GetStates", typeName)
	resp := call[tfplugin6.GetStates_Response](x, &tfplugin6.GetStates_Request{TypeName: typeName})
	return resp.GetStateIds(), x.diags
}

// DeleteState implements provider.StateStores.
func (s *stateStores) DeleteState(ctx context.Context, typeName, id string) diag.List {
	x := s.c.exchange(ctx, "DeleteState", typeName)
	call[tfplugin6.DeleteState_Response](x, &tfplugin6.DeleteState_Request{TypeName: typeName, StateId: id})
	return x.diags
}

// LockState implements provider.StateStores.
func (s *stateStores) LockState(ctx context.Context, typeName, id, operation string) (lock string, refused bool, _ diag.List) {
	x := s.c.exchange(ctx, "LockState", typeName)
	resp := call[tfplugin6.LockState_Response](x, &tfplugin6.LockState_Request{TypeName: typeName, StateId: id, Operation: operation})
	return resp.GetLockId(), x.answered && x.failed(), x.diags
}

// UnlockState implements provider.StateStores.
func (s *stateStores) UnlockState(ctx context.Context, typeName, id, lock string) diag.List {
	x := s.c.exchange(ctx, "UnlockState", typeName)
	call[tfplugin6.UnlockState_Response](x, &tfplugin6.UnlockState_Request{TypeName: typeName, StateId: id, LockId: lock})
	return x.diags
}
