package plugin

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin/unary"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

var _ provider.Recorder = (*catalog)(nil)

// recordedFields are the fields of a schema response with the types of a mode.
var recordedFields = []struct {
	mode  addr.Mode
	field protowire.Number
}{{addr.Managed, fieldResources}, {addr.Data, fieldDataSources}, {addr.Ephemeral, fieldEphemerals}, {addr.Action, fieldActions}}

// Record implements provider.Recorder. The parts are those that the provider has sent, byte for byte.
func (cat *catalog) Record(wanted func(mode addr.Mode, typeName string) bool) provider.Recording {
	r := provider.Recording{Protocol: cat.c.protocol}
	r.Schemas = appendField(r.Schemas, fieldProvider, cat.provider.raw)
	var identified []string
	for _, f := range recordedFields {
		for _, name := range slices.Sorted(maps.Keys(cat.types[f.mode])) {
			if !wanted(f.mode, name) {
				continue
			}
			r.Schemas = appendEntry(r.Schemas, f.field, name, recordedSchema(f.mode, cat.types[f.mode][name].raw))
			if f.mode == addr.Managed {
				identified = append(identified, name)
			}
		}
	}
	if cat.meta != nil {
		r.Schemas = appendField(r.Schemas, fieldMeta, cat.meta.raw)
	}
	caps := cat.capabilities
	encoded, _ := proto.Marshal(&tfplugin6.ServerCapabilities{ // of flags only, which cannot fail
		PlanDestroy: caps.PlanDestroy, GetProviderSchemaOptional: caps.SchemaOptional, MoveResourceState: caps.MoveResourceState, GenerateResourceConfig: caps.GenerateResourceConfig,
	})
	r.Schemas = appendField(r.Schemas, fieldCapabilities, encoded)
	for _, name := range slices.Sorted(maps.Keys(cat.rawFunctions)) {
		r.Schemas = appendEntry(r.Schemas, fieldFunctions, name, cat.rawFunctions[name])
	}
	r.Identities = cat.recordIdentities(identified)
	return r
}

// recordIdentities returns the response with the identity schemas of types, nil if none of them has one. It
// asks the provider unless that was done before; without an answer, there are none.
func (cat *catalog) recordIdentities(types []string) []byte {
	resp := &tfplugin6.GetResourceIdentitySchemas_Response{IdentitySchemas: map[string]*tfplugin6.ResourceIdentitySchema{}}
	for _, name := range types {
		if id, diags := cat.Identity(name); id != nil && !diags.HasErrors() {
			resp.IdentitySchemas[name] = cat.c.sentIdentities[name]
		}
	}
	if len(resp.IdentitySchemas) == 0 {
		return nil
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(resp)
	if err != nil {
		return nil
	}
	return encoded
}

// appendField appends a field with bytes as content.
func appendField(to []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), content)
}

// appendEntry appends an entry of a map from names to messages.
func appendEntry(to []byte, field protowire.Number, name string, content []byte) []byte {
	return appendField(to, field, appendField(appendField(nil, 1, []byte(name)), 2, content))
}

// errRecorded is the error of operations other than Catalog.
var errRecorded = errors.New("only its schemas were recorded, and no provider runs")

// Recorded returns a provider that has the schemas of a recording and fails at everything else.
func Recorded(name string, r provider.Recording) (provider.Provider, diag.List) {
	if r.Protocol != 5 && r.Protocol != 6 {
		return nil, diag.Errorf("Unknown plugin protocol", "The recorded schemas of provider %s are of protocol %d, and Mayfly supports 5 and 6.", name, r.Protocol)
	}
	calls := unary.NewClient(func(context.Context) (net.Conn, error) { return nil, errRecorded })
	cl := newClient(name, r.Protocol, calls, func() error {
		calls.Close()
		return nil
	})
	cl.recorded = &r
	return cl, nil
}
