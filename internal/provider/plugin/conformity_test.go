package plugin

import (
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin5"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// TestMessagesConform compares our messages, name by name and number by number, with those of the SDK, which
// the test binary has too.
func TestMessagesConform(t *testing.T) {
	renamed5 := map[string]string{
		"ValidateProviderConfig": "PrepareProviderConfig", "ValidateResourceConfig": "ValidateResourceTypeConfig",
		"ValidateDataResourceConfig": "ValidateDataSourceConfig", "ConfigureProvider": "Configure", "StopProvider": "Stop",
	}
	for _, theirs := range []string{"tfplugin5", "tfplugin6"} {
		t.Run(theirs, func(t *testing.T) {
			ours := tfplugin6.File_mayfly_wire6_proto.Messages()
			for i := range ours.Len() {
				m := ours.Get(i)
				name := string(m.Name())
				if other, ok := renamed5[name]; ok && theirs == "tfplugin5" {
					name = other
				}
				compareMessage(t, m, protoreflect.FullName(theirs+"."+name))
			}
		})
	}
	ours := tfplugin5.File_mayfly_wire5_proto.Messages().ByName("Schema").Messages().ByName("Attribute")
	compareMessage(t, ours, "tfplugin5.Schema.Attribute")
}

// only6 are the messages about state stores, which protocol 5 does not have.
var only6 = regexp.MustCompile("State(Store|Bytes|ByteRange)|^(Lock|Unlock|Delete)State$|^GetStates$|^RequestChunkMeta$")

// newer are the fields that came with protocol 6.11, which the SDK does not have yet.
var newer = map[protoreflect.FullName]bool{
	"mayfly.wire.v6.ClientCapabilities.store_planned_private":   true,
	"mayfly.wire.v6.PlanResourceChange.Request.planned_private": true,
}

func compareMessage(t *testing.T, ours protoreflect.MessageDescriptor, theirName protoreflect.FullName) {
	if theirName == "tfplugin5.Schema.Attribute" && ours.ParentFile().Package() == "mayfly.wire.v6" || theirName == "tfplugin5.Schema.Object" {
		return // the message that differs has its own declaration, and nested attributes came with protocol 6
	}
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(theirName)
	if err != nil && theirName.Parent() == "tfplugin5" && only6.MatchString(string(ours.Name())) {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", theirName, err)
		return
	}
	theirs := d.(protoreflect.MessageDescriptor)
	for i := range ours.Fields().Len() {
		f := ours.Fields().Get(i)
		g := theirs.Fields().ByName(f.Name())
		switch {
		case g == nil && newer[f.FullName()]:
		case g == nil:
			t.Errorf("%s has no field %s", theirName, f.Name())
		case f.Number() != g.Number() || f.Cardinality() != g.Cardinality() || wireType(f) != wireType(g):
			t.Errorf("%s: field %s is %d %s, theirs %d %s", theirName, f.Name(), f.Number(), f.Kind(), g.Number(), g.Kind())
		case f.Kind() == protoreflect.EnumKind:
			compareEnum(t, f.Enum(), g.Enum())
		}
	}
	for i := range ours.Messages().Len() {
		if nested := ours.Messages().Get(i); !nested.IsMapEntry() {
			compareMessage(t, nested, theirName.Append(nested.Name()))
		}
	}
}

// wireType tells what counts on the wire: text, bytes and messages are all bytes there.
func wireType(f protoreflect.FieldDescriptor) protowire.Type {
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	default:
		return protowire.VarintType
	}
}

func compareEnum(t *testing.T, ours, theirs protoreflect.EnumDescriptor) {
	for i := range ours.Values().Len() {
		v := ours.Values().Get(i)
		if g := theirs.Values().ByName(v.Name()); g == nil || g.Number() != v.Number() {
			t.Errorf("%s: got the value %v, want %s = %d", theirs.FullName(), g, v.Name(), v.Number())
		}
	}
}

// TestMethodsConform finds every method that the client calls in the services of the SDK.
func TestMethodsConform(t *testing.T) {
	rpcs := []string{
		"GetProviderSchema", "GetResourceIdentitySchemas", "ValidateProviderConfig", "ValidateResourceConfig", "ValidateDataResourceConfig",
		"ValidateEphemeralResourceConfig", "ConfigureProvider", "StopProvider", "UpgradeResourceState", "UpgradeResourceIdentity", "ReadResource",
		"PlanResourceChange", "ApplyResourceChange", "ImportResourceState", "MoveResourceState", "ReadDataSource", "OpenEphemeralResource",
		"RenewEphemeralResource", "CloseEphemeralResource", "CallFunction", "ListResource", "ValidateListResourceConfig",
		"ValidateActionConfig", "PlanAction", "InvokeAction",
	}
	for _, protocol := range []int{5, 6} {
		for _, rpc := range rpcs {
			c := newClient(fakeName, protocol, nil, nil)
			name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(c.method(rpc), "/"), "/", "."))
			if _, err := protoregistry.GlobalFiles.FindDescriptorByName(name); err != nil {
				t.Errorf("%s: %v", c.method(rpc), err)
			}
		}
	}
}

// TestSchemaFieldsConform checks the field numbers by which a schema response is indexed.
func TestSchemaFieldsConform(t *testing.T) {
	for _, theirs := range []protoreflect.FullName{"tfplugin5.GetProviderSchema.Response", "tfplugin6.GetProviderSchema.Response"} {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(theirs)
		if err != nil {
			t.Fatal(err)
		}
		fields := d.(protoreflect.MessageDescriptor).Fields()
		for name, num := range map[protoreflect.Name]protowire.Number{
			"provider": fieldProvider, "resource_schemas": fieldResources, "data_source_schemas": fieldDataSources, "diagnostics": fieldDiagnostics,
			"provider_meta": fieldMeta, "server_capabilities": fieldCapabilities, "functions": fieldFunctions,
			"ephemeral_resource_schemas": fieldEphemerals, "list_resource_schemas": fieldLists, "state_store_schemas": fieldStateStores, "action_schemas": fieldActions,
		} {
			if f := fields.ByName(name); theirs == "tfplugin5.GetProviderSchema.Response" && num == fieldStateStores && f == nil {
				continue // which came with protocol 6
			} else if f == nil || f.Number() != num {
				t.Errorf("%s: got the field %v, want %s with the number %d", theirs, f, name, num)
			}
		}
	}
}
