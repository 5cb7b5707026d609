package simprovider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// typeFiles is the state store, which keeps states in files of the cloud.
const typeFiles = "sim_files"

// server6 is a core in protocol 6, with the state store that protocol 5 does not have.
type server6 struct {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
	*stateStores
}

var _ tfprotov6.StateStoreServer = server6{}

// upgraded serves a core in protocol 6.
func upgraded(c *core) tfprotov6.ProviderServer {
	return server6{c, c, c, &stateStores{core: c, schemas: stateStoreSchemas()}}
}

// stateStores is the part of a provider that keeps states.
type stateStores struct {
	core    *core
	schemas map[string]*tfprotov6.Schema

	mu     sync.Mutex
	config object // nil before it was configured
}

// stateStoreSchemas are the state stores.
func stateStoreSchemas() map[string]*tfprotov6.Schema {
	return map[string]*tfprotov6.Schema{typeFiles: {Block: &tfprotov6.SchemaBlock{
		Attributes: []*tfprotov6.SchemaAttribute{
			attr("dir", tftypes.String, required),
			attr("note", tftypes.String, optional),
			attr("key", tftypes.String, optional, sensitive),
			attr("chunk_size", tftypes.Number, optional),
			attr("lockless", tftypes.Bool, optional),
			attr("fault", tftypes.String, optional),
		},
		BlockTypes: []*tfprotov6.SchemaNestedBlock{{
			TypeName: "label", Nesting: tfprotov6.SchemaNestedBlockNestingModeList,
			Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{attr("text", tftypes.String, required)}},
		}},
	}}}
}

// call describes a request about a state.
func (s *stateStores) call(rpc, typeName, id string) call {
	cl := newCall(rpc, typeName, s.schemas[typeName])
	cl.Name = id
	return cl
}

// known returns an error if there is no such type.
func (s *stateStores) known(typeName string) error {
	if s.schemas[typeName] == nil {
		return faultf("there is no state store %q", typeName)
	}
	return nil
}

// ValidateStateStoreConfig refuses a directory with a slash in its name.
func (s *stateStores) ValidateStateStoreConfig(ctx context.Context, req *tfprotov6.ValidateStateStoreConfigRequest) (*tfprotov6.ValidateStateStoreConfigResponse, error) {
	cl := s.call("ValidateStateStoreConfig", req.TypeName, "")
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ValidateStateStoreConfigResponse, error) {
		diags := failed(s.known(req.TypeName))
		if strings.Contains(cl.config.text("dir"), "/") {
			diags = problem("Invalid directory", "The directory of the states must be a name without slashes.")
			diags[0].Attribute = tftypes.NewAttributePath().WithAttributeName("dir")
		}
		return &tfprotov6.ValidateStateStoreConfigResponse{Diagnostics: diags}, nil
	}
	return serve(ctx, s.core, cl, work, func(r *tfprotov6.ValidateStateStoreConfigResponse) answer { return answer{diags: &r.Diagnostics} })
}

// ConfigureStateStore may be called once, after the provider was configured. The key must be the same
// as in earlier calls for the directory, and live if it is a lease.
func (s *stateStores) ConfigureStateStore(ctx context.Context, req *tfprotov6.ConfigureStateStoreRequest) (*tfprotov6.ConfigureStateStoreResponse, error) {
	cl := s.call("ConfigureStateStore", req.TypeName, "")
	cl.config = cl.read("config", req.Config)
	work := func(context.Context) (*tfprotov6.ConfigureStateStoreResponse, error) {
		err := errors.Join(s.known(req.TypeName), s.core.ready())
		if err == nil {
			err = s.configure(req.Config, s.schemas[req.TypeName])
		}
		resp := &tfprotov6.ConfigureStateStoreResponse{Diagnostics: failed(err)}
		if err == nil {
			resp.Capabilities = &tfprotov6.StateStoreServerCapabilities{ChunkSize: s.chunk(req.Capabilities)}
		}
		return resp, nil
	}
	return serve(ctx, s.core, cl, work, func(r *tfprotov6.ConfigureStateStoreResponse) answer { return answer{diags: &r.Diagnostics} })
}

func (s *stateStores) configure(config *tfprotov6.DynamicValue, schema *tfprotov6.Schema) error {
	o, err := decode(config, schema.ValueType())
	if err != nil {
		return err
	}
	if !o.value(schema.ValueType()).IsFullyKnown() {
		return faultf("the configuration of a state store has unknown values")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config != nil {
		return faultf("the state store is configured a second time")
	}
	s.config = o
	if err := s.fail("configure"); err != nil {
		return err
	}
	if err := simcloud.UseStateKey(s.dir(), simlog.Hash(o.text("key"))); err != nil {
		return err
	}
	return s.core.cloud.checkLive(o.text("key"))
}

// chunk returns the size of chunks, which the engine suggests unless the configuration says otherwise.
func (s *stateStores) chunk(caps *tfprotov6.ConfigureStateStoreClientCapabilities) int64 {
	if isKnownNonNull(s.config["chunk_size"]) {
		return s.config.number("chunk_size")
	}
	if caps == nil {
		return 0
	}
	return caps.ChunkSize
}

// dir returns the directory of the states.
func (s *stateStores) dir() string { return simcloud.StateDir(s.core.cloud.dir, s.config.text("dir")) }

// fault reports whether the configuration asks for a fault.
func (s *stateStores) fault(name string) bool { return s.config.text("fault") == name }

// fail ends the process, never returns or fails, as the configuration asks for at an operation.
func (s *stateStores) fail(operation string) error {
	switch {
	case s.fault("exit-" + operation):
		fmt.Fprintln(realStderr, "the simulated state store ends")
		s.core.exit(3)
	case s.fault("hang-" + operation):
		<-context.Background().Done()
	case s.fault("fail-" + operation):
		return fmt.Errorf("the state store was asked to fail to %s", operation)
	}
	return nil
}

// usable returns an error if the store cannot be used for an operation.
func (s *stateStores) usable(typeName, operation string) error {
	if err := s.known(typeName); err != nil {
		return err
	}
	s.mu.Lock()
	configured := s.config != nil
	s.mu.Unlock()
	if !configured {
		return faultf("the state store is used before it was configured")
	}
	return errors.Join(s.core.ready(), s.core.cloud.checkLive(s.config.text("key")), s.fail(operation))
}

// GetStates lists the states.
func (s *stateStores) GetStates(ctx context.Context, req *tfprotov6.GetStatesRequest) (*tfprotov6.GetStatesResponse, error) {
	work := func(context.Context) (*tfprotov6.GetStatesResponse, error) {
		err := s.usable(req.TypeName, "list")
		var ids []string
		if err == nil {
			ids, err = simcloud.States(s.dir())
		}
		return &tfprotov6.GetStatesResponse{StateIDs: ids, Diagnostics: failed(err)}, nil
	}
	return serve(ctx, s.core, s.call("GetStates", req.TypeName, ""), work, func(r *tfprotov6.GetStatesResponse) answer { return answer{diags: &r.Diagnostics} })
}

// DeleteState deletes a state that is not locked.
func (s *stateStores) DeleteState(ctx context.Context, req *tfprotov6.DeleteStateRequest) (*tfprotov6.DeleteStateResponse, error) {
	work := func(context.Context) (*tfprotov6.DeleteStateResponse, error) {
		err := s.usable(req.TypeName, "delete")
		if err == nil {
			_, err = os.Stat(simcloud.LockPath(s.dir(), req.StateID))
			if err == nil {
				err = faultf("the state %q is locked", req.StateID)
			} else if errors.Is(err, fs.ErrNotExist) {
				err = os.Remove(simcloud.StatePath(s.dir(), req.StateID))
			}
		}
		return &tfprotov6.DeleteStateResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, s.core, s.call("DeleteState", req.TypeName, req.StateID), work, func(r *tfprotov6.DeleteStateResponse) answer { return answer{diags: &r.Diagnostics} })
}

// LockState locks a state, unless there are no locks.
func (s *stateStores) LockState(ctx context.Context, req *tfprotov6.LockStateRequest) (*tfprotov6.LockStateResponse, error) {
	work := func(context.Context) (*tfprotov6.LockStateResponse, error) {
		err := s.usable(req.TypeName, "lock")
		if err != nil {
			return &tfprotov6.LockStateResponse{Diagnostics: failed(err)}, nil
		}
		if on := s.config["lockless"]; isKnownNonNull(on) && on.Equal(tftypes.NewValue(tftypes.Bool, true)) {
			return &tfprotov6.LockStateResponse{}, nil
		}
		if s.fault("held") {
			return &tfprotov6.LockStateResponse{Diagnostics: problem("Busy", "The state is in use.")}, nil
		}
		id, holder, err := simcloud.LockState(s.dir(), req.StateID, req.Operation)
		resp := &tfprotov6.LockStateResponse{LockID: id, Diagnostics: failed(err)}
		if holder != "" {
			resp.Diagnostics = problem("Workspace Already Locked", fmt.Sprintf("%q workspace has a lock held by another client.\n\n%s", req.StateID, holder))
		}
		return resp, nil
	}
	return serve(ctx, s.core, s.call("LockState", req.TypeName, req.StateID), work, func(r *tfprotov6.LockStateResponse) answer { return answer{diags: &r.Diagnostics} })
}

// UnlockState releases a lock, which must have the ID.
func (s *stateStores) UnlockState(ctx context.Context, req *tfprotov6.UnlockStateRequest) (*tfprotov6.UnlockStateResponse, error) {
	work := func(context.Context) (*tfprotov6.UnlockStateResponse, error) {
		err := s.usable(req.TypeName, "unlock")
		if err == nil {
			err = simcloud.UnlockState(s.dir(), req.StateID, req.LockID)
		}
		return &tfprotov6.UnlockStateResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, s.core, s.call("UnlockState", req.TypeName, req.StateID), work, func(r *tfprotov6.UnlockStateResponse) answer { return answer{diags: &r.Diagnostics} })
}

// ReadStateBytes returns a state in chunks, with the fault that the configuration asks for.
func (s *stateStores) ReadStateBytes(ctx context.Context, req *tfprotov6.ReadStateBytesRequest) (*tfprotov6.ReadStateBytesStream, error) {
	work := func(context.Context) (*tfprotov6.ReadStateBytesStream, error) {
		var data []byte
		err := s.usable(req.TypeName, "read")
		if err == nil {
			if data, err = os.ReadFile(simcloud.StatePath(s.dir(), req.StateID)); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		chunks := []tfprotov6.ReadStateByteChunk{{Diagnostics: failed(err)}}
		if err == nil {
			chunks = s.misplaced(cut(data, s.chunk(&tfprotov6.ConfigureStateStoreClientCapabilities{ChunkSize: 8 << 20})))
		}
		return &tfprotov6.ReadStateBytesStream{Chunks: slices.Values(chunks)}, nil
	}
	return serve(ctx, s.core, s.call("ReadStateBytes", req.TypeName, req.StateID), work, nil)
}

// cut returns the chunks of a state.
func cut(data []byte, size int64) []tfprotov6.ReadStateByteChunk {
	var out []tfprotov6.ReadStateByteChunk
	for at := int64(0); at < int64(len(data)); at += size {
		end := min(at+size, int64(len(data)))
		out = append(out, tfprotov6.ReadStateByteChunk{StateByteChunk: tfprotov6.StateByteChunk{
			Bytes: data[at:end], TotalLength: int64(len(data)), Range: tfprotov6.StateByteRange{Start: at, End: end - 1},
		}})
	}
	return out
}

// misplaced makes the mistake in chunks that the configuration asks for.
func (s *stateStores) misplaced(chunks []tfprotov6.ReadStateByteChunk) []tfprotov6.ReadStateByteChunk {
	if len(chunks) < 2 {
		return chunks
	}
	last := len(chunks) - 1
	switch {
	case s.fault("short"):
		return chunks[:last]
	case s.fault("gap"):
		return slices.Delete(chunks, last-1, last)
	case s.fault("order"):
		chunks[last-1], chunks[last] = chunks[last], chunks[last-1]
	case s.fault("long"):
		chunks[last].TotalLength--
		for i := range chunks {
			chunks[i].TotalLength = chunks[last].TotalLength
		}
	case s.fault("length"):
		chunks[last].TotalLength += 5
	case s.fault("big"):
		chunks[0].Bytes = append(slices.Clone(chunks[0].Bytes), chunks[1].Bytes...)
		chunks[0].Range.End = chunks[1].Range.End
		return slices.Delete(chunks, 1, 2)
	}
	return chunks
}

// WriteStateBytes replaces a state once all of its chunks have come.
func (s *stateStores) WriteStateBytes(ctx context.Context, in *tfprotov6.WriteStateBytesStream) (*tfprotov6.WriteStateBytesResponse, error) {
	data, meta, err := s.receive(in)
	if meta == nil {
		meta = &tfprotov6.WriteStateChunkMeta{}
	}
	work := func(context.Context) (*tfprotov6.WriteStateBytesResponse, error) {
		if err == nil {
			err = s.usable(meta.TypeName, "write")
		}
		if err == nil {
			err = simcloud.WriteState(s.dir(), meta.StateID, data)
		}
		if err == nil {
			err = s.fail("written")
		}
		return &tfprotov6.WriteStateBytesResponse{Diagnostics: failed(err)}, nil
	}
	return serve(ctx, s.core, s.call("WriteStateBytes", meta.TypeName, meta.StateID), work, func(r *tfprotov6.WriteStateBytesResponse) answer { return answer{diags: &r.Diagnostics} })
}

// receive joins the chunks of a state, and refuses those that are not as agreed.
func (s *stateStores) receive(in *tfprotov6.WriteStateBytesStream) (data []byte, meta *tfprotov6.WriteStateChunkMeta, _ error) {
	size, total := s.chunk(&tfprotov6.ConfigureStateStoreClientCapabilities{ChunkSize: 8 << 20}), int64(0)
	for c, diags := range in.Chunks {
		if len(diags) > 0 {
			return nil, meta, fmt.Errorf("%s: %s", diags[0].Summary, diags[0].Detail)
		}
		n, have := int64(len(c.Bytes)), int64(len(data))
		last := c.Range.End == c.TotalLength-1
		switch {
		case (c.Meta == nil) != (meta != nil):
			return nil, meta, faultf("the first chunk alone must say which state it is of")
		case n == 0 || n > size || n != size && !last:
			return nil, meta, faultf("a chunk has %d bytes, and not %d", n, size)
		case c.Range.Start != have || c.Range.End != have+n-1 || c.Range.End >= c.TotalLength:
			return nil, meta, faultf("a chunk is said to extend from byte %d to byte %d of %d", c.Range.Start, c.Range.End, c.TotalLength)
		}
		if c.Meta != nil {
			meta = c.Meta
		}
		data, total = append(data, c.Bytes...), c.TotalLength
	}
	if meta == nil || int64(len(data)) != total {
		return nil, meta, faultf("%d bytes came of a state that has %d", len(data), total)
	}
	return data, meta, nil
}
