package plugin

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// TestRecording compares the catalog of a recording with the one that was recorded.
func TestRecording(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		live, _ := c.Catalog(soon(t))
		wanted := func(mode addr.Mode, name string) bool {
			return mode == addr.Managed && name == "fake_thing" || mode == addr.Ephemeral
		}
		r := live.(provider.Recorder).Record(wanted)
		if again := live.(provider.Recorder).Record(wanted); !bytes.Equal(again.Schemas, r.Schemas) || !bytes.Equal(again.Identities, r.Identities) {
			t.Error("a second recording differs")
		}
		p, diags := Recorded(fakeName, r)
		wantNone(t, diags)
		cat, diags := p.Catalog(soon(t))
		wantNone(t, diags)
		if got := cat.Types(addr.Managed); !cmp.Equal(got, []string{"fake_thing"}) || len(cat.Types(addr.Data)) > 0 || !cmp.Equal(cat.Types(addr.Ephemeral), live.Types(addr.Ephemeral)) {
			t.Errorf("types of the recording: got managed %q, data %q, ephemeral %q, want fake_thing, none and %q", got, cat.Types(addr.Data), cat.Types(addr.Ephemeral), live.Types(addr.Ephemeral))
		}
		if cat.Capabilities() != live.Capabilities() {
			t.Errorf("capabilities of the recording: got %+v, want %+v", cat.Capabilities(), live.Capabilities())
		}
		same := func(what string, of func(provider.Catalog) any) {
			options := cmp.Options{cmpopts.IgnoreUnexported(schema.Block{}), cmp.Comparer(cty.Type.Equals), cmp.Comparer(cty.Value.RawEquals)}
			if diff := cmp.Diff(of(live), of(cat), options); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		same("type", func(c provider.Catalog) any { s, _ := c.Resource(addr.Managed, "fake_thing"); return s })
		same("provider", func(c provider.Catalog) any { s, _ := c.Provider(); return s })
		same("meta", func(c provider.Catalog) any { s, _ := c.Meta(); return s })
		same("functions", func(c provider.Catalog) any { s, _ := c.Functions(); return s })
		same("identity", func(c provider.Catalog) any { s, _ := c.Identity("fake_thing"); return s })
		if diags := readThing(soon(t), p, "x"); !diags.HasErrors() {
			t.Error("a recording reads an object")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestNoRecording refuses recordings of no protocol, and reports those that no provider has sent.
func TestNoRecording(t *testing.T) {
	_, diags := Recorded(fakeName, provider.Recording{Protocol: 7})
	wantOne(t, diags, diag.Error, "protocol 7")
	for _, r := range []provider.Recording{{Protocol: 6, Schemas: []byte{0xff}}, {Protocol: 5, Schemas: []byte{0xff}}} {
		p, diags := Recorded(fakeName, r)
		wantNone(t, diags)
		_, diags = p.Catalog(soon(t))
		wantOne(t, diags, diag.Error, "cannot be read")
	}
	p, diags := Recorded(fakeName, provider.Recording{Protocol: 6, Identities: []byte{0xff}})
	wantNone(t, diags)
	cat, diags := p.Catalog(soon(t))
	wantNone(t, diags)
	if id, diags := cat.Identity("x"); id != nil || !diags.HasErrors() {
		t.Errorf("an identity from nothing: %v", id)
	}
}
