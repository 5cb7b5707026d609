package object

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// strict is a provider that answers as it says if it is asked without the name of an object, and otherwise
// that the object is as it was sent.
type strict struct {
	served
	without string
	asked   int
}

func (s *strict) ReadResource(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	s.asked++
	resp := provider.ReadResponse{New: req.Prior, Private: []byte("read"), Identity: cty.NilVal}
	if !req.Prior.GetAttr("name").IsNull() {
		return resp, nil
	}
	switch s.without {
	case "gone":
		resp.New = cty.NullVal(req.Prior.Type())
	case "deferred":
		resp.New, resp.Deferred = cty.NullVal(req.Prior.Type()), "later"
	case "error":
		return resp, diag.Errorf("No name", "it has none")
	case "other":
		resp.New = thing(attrs{"id": str("i-1"), "name": str("other")})
	}
	return resp, nil
}

// TestReadWithoutValues reads an object whose name the state does not have. If the answer may come of that,
// the provider is asked again with the name, where the configuration has it.
func TestReadWithoutValues(t *testing.T) {
	const doubt = "Cannot tell whether the object exists"
	same := func() (cty.Value, bool) { return thing(attrs{"name": str("n")}), true }
	changed := func() (cty.Value, bool) { return thing(attrs{"name": str("m")}), true }
	broken := func() (cty.Value, bool) { return cty.NilVal, false }
	without, with := thing(attrs{"id": str("i-1")}), thing(attrs{"id": str("i-1"), "name": str("n")})
	gone := cty.NullVal(block().Type())
	salt := []fingerprint.Salt{{ID: "s", Scheme: fingerprint.Scheme, Bytes: []byte("0123456789abcdef")}}
	hasher := fingerprint.New(salt, nil)
	sent, err := hasher.Of(str("n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, answer string
		real         func() (cty.Value, bool)
		leaves       bool
		asked        int
		want         cty.Value
		private      string
		summary      string
	}{
		{"as it is", "", same, false, 1, without, "read", ""},
		{"gone, the same value", "gone", same, false, 2, with, "read", ""},
		{"gone, the same value, to be destroyed", "gone", same, true, 2, with, "read", ""},
		{"gone, another value", "gone", changed, false, 1, without, "p0", doubt},
		{"gone, no configuration", "gone", broken, false, 1, without, "p0", doubt},
		{"gone, another value, to be destroyed", "gone", changed, true, 1, without, "p0", ""},
		{"gone, without a block", "gone", nil, true, 1, without, "p0", ""},
		{"gone, imported", "gone", nil, false, 1, gone, "", ""},
		{"error, the same value", "error", same, false, 2, with, "read", ""},
		{"error, another value", "error", changed, false, 1, without, "read", "No name"},
		{"error, another value, to be destroyed", "error", changed, true, 1, without, "p0", ""},
		{"deferred, to be destroyed", "deferred", nil, true, 1, without, "p0", "Provider deferred a change"},
		{"other, the same value", "other", same, false, 2, with, "read", ""},
		{"other, another value", "other", changed, false, 1, without, "read", ""},
		{"other, another value, to be destroyed", "other", changed, true, 1, without, "read", ""},
	} {
		f := newFixture(t)
		p := &strict{served: served{scripted: f.scripted}, without: row.answer}
		f.Use(p, addr.ProviderConfig{Provider: source})
		f.Withheld.Names, f.Withheld.Hasher = schema.Patterns{cty.GetAttrPath("name")}, hasher
		f.Real, f.Leaves = row.real, row.leaves
		o := &state.Object{Withheld: []state.Withheld{{Path: cty.GetAttrPath("name"), Sent: sent}}}
		got, ok := f.Refresh(Prior{Object: o, Value: without, Private: []byte("p0")}, cty.NilVal)
		if ok != (row.summary == "") || !got.Value.RawEquals(row.want) || string(got.Private) != row.private || p.asked != row.asked || len(got.Drifted) > 0 {
			t.Errorf("%s: got %t, %#v, %q after %d calls, want %#v, %q after %d", row.name, ok, got.Value, got.Private, p.asked, row.want, row.private, row.asked)
		}
		f.says(t, row.name, row.summary)
	}
}
