package plugin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// handlers answer calls by the name of the method; others are not implemented.
type handlers map[string]func() (proto.Message, error)

// rawProvider is a provider with full control over its messages.
func rawProvider(t testing.TB, h handlers) *client { return rawStreams(t, h, nil) }

// rawStreams is rawProvider with methods that answer with many messages.
func rawStreams(t testing.TB, h handlers, streams map[string][]proto.Message) *client {
	t.Helper()
	desc := &grpc.ServiceDesc{ServiceName: "tfplugin6.Provider", HandlerType: (*any)(nil)}
	for name, f := range h {
		desc.Methods = append(desc.Methods, grpc.MethodDesc{
			MethodName: name,
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				if err := decode(&emptypb.Empty{}); err != nil {
					return nil, err
				}
				return f()
			},
		})
	}
	for name, answers := range streams {
		desc.Streams = append(desc.Streams, grpc.StreamDesc{StreamName: name, ServerStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
			for _, m := range answers {
				if err := s.SendMsg(m); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	p := connectInMemory(func(s *grpc.Server) { s.RegisterService(desc, struct{}{}) }, 6)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.(*client)
}

// bytesMessage is a message with the given encoding.
func bytesMessage(data []byte) proto.Message {
	m := &emptypb.Empty{}
	m.ProtoReflect().SetUnknown(data)
	return m
}

func answer(m proto.Message) func() (proto.Message, error) {
	return func() (proto.Message, error) { return m, nil }
}

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func field(num protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), content)
}

func entry(num protowire.Number, name string, content []byte) []byte {
	return field(num, slices.Concat(field(1, []byte(name)), field(2, content)))
}

// blockSchema returns a schema message with attributes.
func blockSchema(t testing.TB, attrs ...*tfplugin6.Schema_Attribute) []byte {
	return encoded(t, &tfplugin6.Schema{Block: blockOf(t, attrs...)})
}

func blockOf(t testing.TB, attrs ...*tfplugin6.Schema_Attribute) *tfplugin6.Schema_Block {
	block := &tfplugin6.Schema_Block{}
	for _, a := range attrs {
		block.Attributes = append(block.Attributes, encoded(t, a))
	}
	return block
}

func stringAttr(name string) *tfplugin6.Schema_Attribute {
	return &tfplugin6.Schema_Attribute{Name: name, Type: []byte(`"string"`), Optional: true}
}

func simpleResponse(t testing.TB) []byte {
	s := blockSchema(t, stringAttr("name"), stringAttr("value"))
	return slices.Concat(entry(fieldResources, "fake_a", s), entry(fieldEphemerals, "fake_e", s), entry(fieldDataSources, "fake_d", s))
}

func dynamic(v cty.Value, ty cty.Type) *tfplugin6.DynamicValue {
	return &tfplugin6.DynamicValue{Msgpack: wire(v, ty).MsgPack}
}

func TestSchemasAreDecodedOnDemand(t *testing.T) {
	var calls atomic.Int32
	broken := []byte{0xff} // would not decode
	response := slices.Concat(simpleResponse(t), entry(fieldResources, "fake_broken", broken))
	c := rawProvider(t, handlers{"GetProviderSchema": func() (proto.Message, error) {
		calls.Add(1)
		return bytesMessage(response), nil
	}, "ValidateResourceConfig": answer(&tfplugin6.ValidateResourceConfig_Response{})})
	before := decodedSchemas.Load()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if diags := c.ValidateResource(soon(t), addr.Managed, "fake_a", simple("x", cty.NullVal(cty.String))); len(diags) > 0 {
				t.Error(diags)
			}
		})
	}
	wg.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("got %d schema calls, want 1", n)
	}
	if n := decodedSchemas.Load() - before; n != 1 {
		t.Errorf("got %d schemas decoded, want 1", n)
	}
	cat, diags := c.Catalog(soon(t))
	wantNone(t, diags)
	_, diags = cat.Resource(addr.Managed, "fake_broken")
	wantOne(t, diags, diag.Error, fakeName, "resource type fake_broken", "not well-formed")
}

func TestUnimplemented(t *testing.T) {
	c := rawProvider(t, handlers{"GetProviderSchema": answer(bytesMessage(simpleResponse(t)))})
	cat, diags := c.Catalog(soon(t))
	wantNone(t, diags)
	if id, diags := cat.Identity("fake_a"); id != nil || len(diags) > 0 {
		t.Errorf("identity: %v %v", id, diags)
	}
	if err := c.Stop(soon(t)); err != nil {
		t.Errorf("stop: %v", err)
	}
	obj := simple("x", cty.NullVal(cty.String))
	_, diags = c.ReadResource(soon(t), provider.ReadRequest{Type: "fake_a", Prior: obj})
	wantOne(t, diags, diag.Error, "does not have the operation ReadResource", fakeName)
	_, diags = c.OpenEphemeral(soon(t), "fake_e", obj)
	wantOne(t, diags, diag.Error, "does not have the operation OpenEphemeralResource", fakeName)
	_, diags = rawProvider(t, handlers{}).Catalog(soon(t))
	wantOne(t, diags, diag.Error, "does not have the operation GetProviderSchema", fakeName)
}

func TestDeferred(t *testing.T) {
	reason := func(r tfplugin6.Deferred_Reason) *tfplugin6.Deferred { return &tfplugin6.Deferred{Reason: r} }
	c := rawProvider(t, handlers{
		"GetProviderSchema":     answer(bytesMessage(simpleResponse(t))),
		"ReadResource":          answer(&tfplugin6.ReadResource_Response{Deferred: reason(tfplugin6.Deferred_RESOURCE_CONFIG_UNKNOWN)}),
		"ReadDataSource":        answer(&tfplugin6.ReadDataSource_Response{Deferred: reason(tfplugin6.Deferred_ABSENT_PREREQ)}),
		"PlanResourceChange":    answer(&tfplugin6.PlanResourceChange_Response{Deferred: reason(99)}),
		"ImportResourceState":   answer(&tfplugin6.ImportResourceState_Response{Deferred: reason(tfplugin6.Deferred_UNKNOWN)}),
		"OpenEphemeralResource": answer(&tfplugin6.OpenEphemeralResource_Response{Deferred: reason(tfplugin6.Deferred_PROVIDER_CONFIG_UNKNOWN)}),
	})
	obj := simple("x", cty.NullVal(cty.String))
	read, diags := c.ReadResource(soon(t), provider.ReadRequest{Type: "fake_a", Prior: obj})
	wantNone(t, diags)
	data, diags := c.ReadData(soon(t), provider.DataRequest{Type: "fake_d", Config: obj})
	wantNone(t, diags)
	plan, diags := c.PlanResource(soon(t), provider.PlanRequest{Type: "fake_a", Prior: obj, Proposed: obj, Config: obj})
	wantNone(t, diags)
	imported, diags := c.ImportResource(soon(t), provider.ImportRequest{Type: "fake_a", ID: "i"})
	wantNone(t, diags)
	open, diags := c.OpenEphemeral(soon(t), "fake_e", obj)
	wantNone(t, diags)
	for _, pair := range [][2]string{
		{read.Deferred.Text(), "configuration of the resource"},
		{data.Deferred.Text(), "does not exist yet"},
		{plan.Deferred.Text(), "no reason"},
		{imported.Deferred.Text(), "no reason"},
		{open.Deferred.Text(), "configuration of the provider"},
	} {
		if !strings.Contains(pair[0], pair[1]) {
			t.Errorf("%q is not in %q", pair[1], pair[0])
		}
	}
}

func TestOddAnswers(t *testing.T) {
	path := func(steps ...*tfplugin6.AttributePath_Step) *tfplugin6.AttributePath {
		return &tfplugin6.AttributePath{Steps: steps}
	}
	named := &tfplugin6.AttributePath_Step{Selector: &tfplugin6.AttributePath_Step_AttributeName{AttributeName: "name"}}
	keyed := &tfplugin6.AttributePath_Step{Selector: &tfplugin6.AttributePath_Step_ElementKeyString{ElementKeyString: "k"}}
	obj := simple("x", cty.NullVal(cty.String))
	c := rawProvider(t, handlers{
		"GetProviderSchema": answer(bytesMessage(simpleResponse(t))),
		"ValidateResourceConfig": answer(&tfplugin6.ValidateResourceConfig_Response{Diagnostics: []*tfplugin6.Diagnostic{
			{Severity: 77, Attribute: path(named, &tfplugin6.AttributePath_Step{}), Detail: "odd"},
			{Severity: tfplugin6.Diagnostic_WARNING, Summary: "fine", Attribute: path(named, keyed)},
			{Severity: tfplugin6.Diagnostic_WARNING, Summary: "long", Detail: "x" + strings.Repeat("é", 1<<20)},
		}}),
		"PlanResourceChange": answer(&tfplugin6.PlanResourceChange_Response{
			PlannedState:    dynamic(obj, obj.Type()),
			RequiresReplace: []*tfplugin6.AttributePath{path(&tfplugin6.AttributePath_Step{}), path(named), nil},
		}),
		"ReadResource": answer(&tfplugin6.ReadResource_Response{
			NewIdentity: &tfplugin6.ResourceIdentityData{IdentityData: dynamic(cty.EmptyObjectVal, cty.EmptyObject)},
		}),
		"OpenEphemeralResource": answer(&tfplugin6.OpenEphemeralResource_Response{
			RenewAt: &timestamppb.Timestamp{Nanos: -1}, Private: []byte("p"), Result: dynamic(obj, obj.Type()),
		}),
		"ReadDataSource": func() (proto.Message, error) { return nil, status.Error(codes.ResourceExhausted, "too much") },
	})
	diags := c.ValidateResource(soon(t), addr.Managed, "fake_a", obj)
	if len(diags) != 3 || diags[0].Severity != diag.Error || diags[0].Path != nil || diags[0].Summary == "" || schema.PathString(diags[1].Path) != `name["k"]` {
		t.Errorf("got diagnostics %#v, want 3: an error with a summary and without a path, and then one at name[\"k\"]", diags)
	}
	if detail := diags[2].Detail; len(detail) > 66000 || !utf8.ValidString(detail) || !strings.HasSuffix(detail, "é\n\n(The provider's message has 2097153 bytes; the rest is left out.)") {
		t.Errorf("%d bytes, ending in %q", len(detail), detail[len(detail)-100:])
	}
	plan, diags := c.PlanResource(soon(t), provider.PlanRequest{Type: "fake_a", Prior: obj, Proposed: obj, Config: obj})
	wantNone(t, diags)
	if len(plan.RequiresReplace) != 1 {
		t.Errorf("paths that require replacement: got %v, want 1", plan.RequiresReplace)
	}
	_, diags = c.ReadResource(soon(t), provider.ReadRequest{Type: "fake_a", Prior: obj})
	wantOne(t, diags, diag.Error, "declares no identity", "fake_a", fakeName)
	open, diags := c.OpenEphemeral(soon(t), "fake_e", obj)
	wantOne(t, diags, diag.Error, "time of renewal", fakeName)
	if string(open.Private) != "p" {
		t.Errorf("OpenEphemeral: got private %q, want \"p\"", open.Private)
	}
	_, diags = c.ReadData(soon(t), provider.DataRequest{Type: "fake_d", Config: obj})
	wantOne(t, diags, diag.Error, "too large", "too much")
	wantOne(t, c.ValidateResource(soon(t), addr.Managed, "fake_a", simple("x", cty.StringVal("CANARY").Mark("secret"))), diag.Error, "has marks")
}

func TestInterruptedWaitDoesNotSpoilTheSchema(t *testing.T) {
	release := make(chan struct{})
	c := rawProvider(t, handlers{"GetProviderSchema": func() (proto.Message, error) {
		<-release
		return bytesMessage(simpleResponse(t)), nil
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, diags := c.Catalog(ctx)
	wantOne(t, diags, diag.Error, "took too long")
	close(release)
	_, diags = c.Catalog(soon(t))
	wantNone(t, diags)
}

func TestCloseEndsSchemaCall(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := rawProvider(t, handlers{"GetProviderSchema": func() (proto.Message, error) {
		<-release
		return nil, status.Error(codes.Internal, "late")
	}})
	time.AfterFunc(20*time.Millisecond, c.end)
	_, diags := c.Catalog(soon(t))
	wantOne(t, diags, diag.Error, "closed before it answered")
}

type memoryCache struct {
	mu   sync.Mutex
	data []byte
}

func (m *memoryCache) Load(int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data
}

func (m *memoryCache) Save(_ int, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = data
}

func TestSchemaCache(t *testing.T) {
	optional := field(fieldCapabilities, encoded(t, &tfplugin6.ServerCapabilities{GetProviderSchemaOptional: true}))
	account := stringAttr("account")
	account.Optional, account.Required = false, true
	inBlock := &tfplugin6.Schema_NestedBlock{TypeName: "b", Nesting: tfplugin6.Schema_NestedBlock_LIST, Block: blockOf(t, account)}
	requires := func(b *tfplugin6.Schema_Block) []byte {
		return slices.Concat(optional, field(fieldProvider, encoded(t, &tfplugin6.Schema{Block: b})))
	}
	for _, test := range []struct {
		name         string
		capabilities []byte
		saved        []byte
		calls        int32
	}{
		{"optional", optional, nil, 1},
		{"asked for every time", nil, nil, 2},
		{"spoilt", optional, []byte{0xff}, 1},
		{"an argument is required", requires(blockOf(t, account)), nil, 2},
		{"an argument in a block is required", requires(&tfplugin6.Schema_Block{BlockTypes: []*tfplugin6.Schema_NestedBlock{inBlock}}), nil, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var calls atomic.Int32
			cache := &memoryCache{data: test.saved}
			for range 2 {
				c := rawProvider(t, handlers{"GetProviderSchema": func() (proto.Message, error) {
					calls.Add(1)
					return bytesMessage(slices.Concat(simpleResponse(t), test.capabilities)), nil
				}})
				c.cache = cache
				cat, diags := c.Catalog(soon(t))
				wantNone(t, diags)
				if s, _ := cat.Resource(addr.Managed, "fake_a"); s == nil {
					t.Error("no schema")
				}
			}
			if n := calls.Load(); n != test.calls {
				t.Errorf("got %d calls, want %d", n, test.calls)
			}
		})
	}
}

func TestIndexSchema(t *testing.T) {
	s := blockSchema(t, stringAttr("a"))
	halves := slices.Concat(field(fieldProvider, s[:2+2]), field(99, []byte("future")), protowire.AppendVarint(protowire.AppendTag(nil, 50, protowire.VarintType), 7))
	idx, err := indexSchema(slices.Concat(halves, entry(fieldResources, "x", s), entry(fieldResources, "x", nil), field(fieldFunctions, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if string(idx.provider) != string(s[:4]) || len(idx.resources["x"]) != 0 || !slices.Equal(slices.Collect(maps.Keys(idx.functions)), []string{""}) {
		t.Errorf("indexSchema: got %+v, want the provider's schema %x, an empty one of the resource x, and a function without a name", idx, s[:4])
	}
	merged, err := indexSchema(slices.Concat(field(fieldProvider, s[:4]), field(fieldProvider, s[4:])))
	if err != nil || string(merged.provider) != string(s) {
		t.Errorf("provider's schema in two parts: got %x, %v, want them merged to %x", merged.provider, err, s)
	}
	for _, bad := range [][]byte{{0xff}, {0x0a}, {0x0a, 5}, {0x08}, field(fieldResources, []byte{0x0a})} {
		if _, err := indexSchema(bad); err == nil {
			t.Errorf("%x was accepted", bad)
		}
	}
}
