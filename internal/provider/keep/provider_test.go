package keep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

const canary = "canary-51c2-value"

func TestSecretResource(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	m := h.managed("keep_secret")
	config := attrs{"name": "db", "value_wo": canary, "value_wo_version": 1, "description": "one"}

	if _, planned := m.plan(config); planned["version"] != unknown || planned["id"] != unknown {
		t.Errorf("planned create: got %v, want version and id unknown", planned)
	}
	h.ok(m.apply(config))
	want := attrs{"id": "keep:secret/db", "name": "db", "value_wo": nil, "value_wo_version": 1, "description": "one", "version": 1}
	if diff := cmp.Diff(want, m.state); diff != "" {
		t.Error(diff)
	}

	config["value_wo"], config["description"] = "not stored", nil
	if _, planned := m.plan(config); planned["version"] != 1 || planned["id"] != "keep:secret/db" {
		t.Errorf("planned update of the description: got %v, want version 1 and the id keep:secret/db", planned)
	}
	h.ok(m.apply(config))
	if o := mustOpen(h, "keep_secret", attrs{"name": "db"}); o.result["value"] != canary || o.result["version"] != 1 || m.state["description"] != nil {
		t.Errorf("after an update without a new version: got %v, want the first value, version 1, and no description", o.result)
	}

	config["value_wo"], config["value_wo_version"] = "second", 2
	if _, planned := m.plan(config); planned["version"] != unknown {
		t.Errorf("planned update of the value: got %v, want version unknown", planned)
	}
	h.ok(m.apply(config))
	if o := mustOpen(h, "keep_secret", attrs{"name": "keep:secret/db"}); o.result["value"] != "second" || m.state["version"] != 2 {
		t.Errorf("after an update with a new version: got %v, %v, want \"second\", version 2", o.result, m.state)
	}

	other := attrs{"name": "else", "value_wo": "x"}
	if p, _ := m.plan(other); len(p.RequiresReplace) != 1 || p.RequiresReplace[0].String() != `AttributeName("name")` {
		t.Errorf("another name: got %v to replace, want name alone", p.RequiresReplace)
	}
	h.ok(m.apply(nil))
	if _, diags := h.open("keep_secret", attrs{"name": "db"}); m.state != nil {
		t.Errorf("state after destroy: %v", m.state)
	} else {
		h.fails(diags, "No such secret")
	}
}

func mustOpen(h *host, name string, config attrs) *opened {
	h.t.Helper()
	o, diags := h.open(name, config)
	h.ok(diags)
	return o
}

func TestSecretDrift(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	h.ok(h.managed("keep_secret").apply(attrs{"name": "other", "value_wo": canary}))
	config := attrs{"name": "db", "value_wo": canary, "value_wo_version": 1}
	mine, theirs := h.managed("keep_secret"), h.managed("keep_secret")
	h.ok(mine.apply(config))
	h.fails(theirs.apply(config), "Name already in use")

	h.ok(theirs.importID("db"))
	config["value_wo_version"] = 7
	h.ok(theirs.apply(config))

	// A plan made before the refresh stays true to its word.
	h.ok(mine.apply(attrs{"name": "db", "value_wo": canary, "value_wo_version": 1, "description": "d"}))
	if mine.state["version"] != 1 {
		t.Errorf("before refresh: got %v, want version 1", mine.state)
	}
	h.ok(mine.read())
	if mine.state["version"] != 2 || mine.state["value_wo_version"] != 1 {
		t.Errorf("after refresh: got %v, want version 2 with value_wo_version 1", mine.state)
	}
	h.ok(theirs.apply(nil))
	h.ok(mine.read())
	if mine.state != nil {
		t.Errorf("a deleted secret stays: %v", mine.state)
	}
}

func TestSecretImport(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	h.ok(h.managed("keep_secret").apply(attrs{"name": "a/b", "value_wo": canary, "description": "d"}))
	for _, id := range []string{"a/b", "keep:secret/a/b"} {
		m := h.managed("keep_secret")
		h.ok(m.importID(id))
		want := attrs{"id": "keep:secret/a/b", "name": "a/b", "value_wo": nil, "value_wo_version": nil, "description": "d", "version": 1}
		if diff := cmp.Diff(want, m.state); diff != "" {
			t.Error(diff)
		}
	}
	m := h.managed("keep_secret")
	h.fails(m.importID("keep:note/a"), "Invalid name")
	h.ok(m.importID("nothing"))
	if m.state != nil {
		t.Errorf("imported nothing as %v", m.state)
	}
}

func TestSecretWithoutValue(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	m := h.managed("keep_secret")
	p, _ := m.plan(attrs{"name": "db", "value_wo": unknown})
	h.ok(p.Diagnostics)
	resp, err := h.server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: "keep_secret", Config: h.encode(m.typ, attrs{"name": "db"}), PriorState: h.encode(m.typ, nil), PlannedState: p.PlannedState,
	})
	h.must(err)
	h.fails(resp.Diagnostics, "No value to store")
}

func TestNoteResource(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	h.ok(h.managed("keep_note").apply(attrs{"name": "other", "text": "x"}))
	m := h.managed("keep_note")
	h.ok(m.apply(attrs{"name": "n", "text": "one"}))
	h.ok(m.apply(attrs{"name": "n", "text": "two"}))
	h.fails(h.managed("keep_note").apply(attrs{"name": "n", "text": "x"}), "Name already in use")
	copied := h.managed("keep_note")
	h.ok(copied.importID("n"))
	if diff := cmp.Diff(attrs{"id": "keep:note/n", "name": "n", "text": "two"}, copied.state); diff != "" {
		t.Error(diff)
	}
	if p, _ := m.plan(attrs{"name": "m", "text": "two"}); len(p.RequiresReplace) != 1 {
		t.Errorf("another name: got %v to replace, want one attribute", p.RequiresReplace)
	}
	h.ok(m.apply(nil))
	h.ok(copied.read())
	if copied.state != nil {
		t.Errorf("a deleted note stays: %v", copied.state)
	}
}

func TestLease(t *testing.T) {
	path := tempStore(t)
	h := configured(t, attrs{"path": path})
	o := mustOpen(h, "keep_lease", attrs{"ttl": "30s", "purpose": "demo"})
	start := *h.clock
	if o.result["expires_at"] != start.Add(30*time.Second).Format(time.RFC3339) || !o.renewAt.Equal(start.Add(20*time.Second)) {
		t.Errorf("got expiry %v, renewal at %v, want them 30 and 20 seconds after %v", o.result["expires_at"], o.renewAt, start)
	}
	token := o.result["token"].(string)
	if strings.Contains(string(o.private), token) || !strings.Contains(string(o.private), "lease_id") {
		t.Error("the private data holds the token, or no lease id")
	}
	*h.clock = o.renewAt
	h.ok(o.renew())
	if !o.renewAt.Equal(start.Add(40 * time.Second)) {
		t.Errorf("next renewal: got %v, want %v", o.renewAt, start.Add(40*time.Second))
	}
	if got := liveLeases(h); len(got) != 1 || got[0]["purpose"] != "demo" || got[0]["id"] != o.result["lease_id"] || got[0]["expires_at"] != "2026-05-01T12:00:50Z" {
		t.Errorf("live leases: got %v, want %v for demo until 2026-05-01T12:00:50Z", got, o.result["lease_id"])
	}
	h.ok(o.close())
	if got := liveLeases(h); len(got) != 0 {
		t.Errorf("live leases after close: got %v, want none", got)
	}
	h.fails(o.renew(), "Lease is over")
	h.ok(o.close())

	if o := mustOpen(h, "keep_lease", attrs{}); o.result["ttl"] != "5m" || !o.renewAt.Equal(h.clock.Add(200*time.Second)) {
		t.Errorf("defaults: got ttl %v, renewal at %v, want 5m, %v", o.result["ttl"], o.renewAt, h.clock.Add(200*time.Second))
	}
	for _, ttl := range []string{"", "5", "999ms", "-1m", "25h"} {
		_, diags := h.open("keep_lease", attrs{"ttl": ttl})
		h.fails(diags, "Invalid ttl")
	}
	h.fails((&opened{host: h, name: "keep_lease"}).close(), "Lease not identified")
}

func liveLeases(h *host) []attrs {
	h.t.Helper()
	state, diags := h.data("keep_leases", attrs{})
	h.ok(diags)
	var out []attrs
	for _, v := range state["leases"].([]tftypes.Value) {
		var vals map[string]tftypes.Value
		h.must(v.As(&vals))
		l := attrs{}
		for name, av := range vals {
			l[name] = h.plain(av)
		}
		out = append(out, l)
	}
	return out
}

// A lease of one provider configures a second one, which works exactly while the lease lives.
func TestTokenConfiguresSecondProvider(t *testing.T) {
	path := tempStore(t)
	first := configured(t, attrs{"path": path})
	o := mustOpen(first, "keep_lease", attrs{"ttl": "1m"})
	token := o.result["token"]

	with := configured(t, attrs{"path": path, "token": token})
	m := with.managed("keep_note")
	with.ok(m.apply(attrs{"name": "n", "text": "t"}))
	first.ok(o.close())
	with.fails(m.apply(nil), "Token not accepted")

	diags := newHost(t).configure(attrs{"path": path, "token": token})
	with.fails(diags, "Token not accepted")
	if strings.Contains(texts(diags), token.(string)) {
		t.Error("the error shows the token")
	}
	with.fails(newHost(t).configure(attrs{"path": tempStore(t), "token": token}), "Token not accepted")
}

func TestSecretNames(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	for _, name := range []string{"b", "app/2", "app/1"} {
		h.ok(h.managed("keep_secret").apply(attrs{"name": name, "value_wo": canary}))
	}
	for prefix, want := range map[any][]any{nil: {"app/1", "app/2", "b"}, "app/": {"app/1", "app/2"}, "x": nil} {
		state, diags := h.data("keep_secret_names", attrs{"prefix": prefix})
		h.ok(diags)
		var got []any
		for _, v := range state["names"].([]tftypes.Value) {
			got = append(got, h.plain(v))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("prefix %v: %s", prefix, diff)
		}
	}
}

func TestUnknownConfiguration(t *testing.T) {
	path := tempStore(t)
	known := configured(t, attrs{"path": path})
	secret, note := known.managed("keep_secret"), known.managed("keep_note")
	known.ok(secret.apply(attrs{"name": "db", "value_wo": canary}))
	known.ok(note.apply(attrs{"name": "n", "text": "t"}))

	t.Chdir(t.TempDir())
	for _, config := range []attrs{
		{"path": unknown}, {"path": path, "key_file": unknown}, {"path": path, "passphrase": unknown}, {"path": path, "token": unknown},
	} {
		h := configured(t, config)
		fresh := h.managed("keep_secret")
		p, planned := fresh.plan(attrs{"name": "new", "value_wo": unknown})
		h.ok(p.Diagnostics)
		if planned["name"] != "new" || planned["version"] != unknown {
			t.Errorf("%v: got %v planned, want the name new and version unknown", config, planned)
		}
		h.fails(fresh.apply(attrs{"name": "new", "value_wo": "x"}), "Store not known yet")
		for _, m := range []*managed{secret, note} {
			again := &managed{host: h, name: m.name, typ: m.typ, state: m.state}
			if diags := again.read(); len(diags) != 1 || diags[0].Summary != "Not refreshed" {
				t.Errorf("%v, refresh of %s: got %s, want one diagnostic: Not refreshed", config, m.name, texts(diags))
			}
			if diff := cmp.Diff(m.state, again.state); diff != "" {
				t.Errorf("%v: refresh of %s changed the state: %s", config, m.name, diff)
			}
			h.fails(again.importID("db"), "Store not known yet")
		}
		for _, name := range []string{"keep_secret_names", "keep_leases"} {
			_, diags := h.data(name, attrs{})
			h.fails(diags, "Store not known yet")
		}
		_, diags := h.open("keep_lease", attrs{})
		h.fails(diags, "Store not known yet")
		_, diags = h.open("keep_secret", attrs{"name": "db"})
		h.fails(diags, "Store not known yet")
		if o := mustOpen(h, "keep_password", attrs{}); o.result["result"] == nil {
			t.Error("no password without a store")
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("files made: got %v, %v, want none", left, err)
	}
}

func TestPlanningTouchesNoFile(t *testing.T) {
	dir := t.TempDir()
	h := configured(t, attrs{"path": filepath.Join(dir, "sub", "keep.age")})
	p, _ := h.managed("keep_secret").plan(attrs{"name": "a", "value_wo": canary})
	h.ok(p.Diagnostics)
	p, _ = h.managed("keep_note").plan(attrs{"name": "a", "text": "t"})
	h.ok(p.Diagnostics)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files made: got %v, %v, want none", left, err)
	}
}

func TestMissingStoreIsSaid(t *testing.T) {
	path := tempStore(t)
	h := configured(t, attrs{"path": path})
	m := h.managed("keep_secret")
	h.ok(m.apply(attrs{"name": "db", "value_wo": canary}))
	h.must(os.Remove(path))
	diags := m.read()
	if len(diags) != 1 || diags[0].Severity != tfprotov6.DiagnosticSeverityWarning || !strings.Contains(diags[0].Detail, "the argument path") || m.state != nil {
		t.Errorf("got state %v, %s, want no state, and one warning that names the argument path", m.state, texts(diags))
	}
}

func TestDamagedStoreKeepsTheState(t *testing.T) {
	path := tempStore(t)
	h := configured(t, attrs{"path": path})
	m := h.managed("keep_secret")
	h.ok(m.apply(attrs{"name": "db", "value_wo": canary}))
	h.must(os.Truncate(path, 100))
	h.fails(m.read(), "Damaged store")
	if m.state["name"] != "db" {
		t.Errorf("state: got %v, want it kept with the name db", m.state)
	}
}

func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	made := func(config attrs, want ...string) {
		t.Helper()
		h := configured(t, config)
		h.ok(h.managed("keep_note").apply(attrs{"name": "n", "text": "t"}))
		for _, name := range want {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%v: %v", config, err)
			}
		}
	}
	made(attrs{}, "keep.age", "keep.age.key")
	t.Setenv("KEEP_PATH", "env.age")
	t.Setenv("KEEP_KEY_FILE", "env.key")
	made(attrs{}, "env.age", "env.key")
	made(attrs{"path": "arg.age", "key_file": "arg.key"}, "arg.age", "arg.key")
	t.Setenv("KEEP_PASSPHRASE", "words")
	h := newHost(t)
	h.fails(h.configure(attrs{}), "Two ways to open the store")
	made(attrs{"path": "both.age", "key_file": "both.key"}, "both.age", "both.key")
	t.Setenv("KEEP_KEY_FILE", "")
	made(attrs{"path": "pass.age"}, "pass.age")
	if _, err := os.Stat("pass.age.key"); err == nil {
		t.Error("a key file was made beside a passphrase")
	}
	h.fails(h.configure(attrs{"path": "pass.age", "passphrase": "other"}), "Cannot open the store")
	t.Setenv("KEEP_PASSPHRASE", "")
	h.must(os.Remove("arg.key"))
	h.fails(h.configure(attrs{"path": "arg.age", "key_file": "arg.key"}), "Key file missing")
}

func TestInvalidConfiguration(t *testing.T) {
	for _, config := range []attrs{{"path": ""}, {"key_file": ""}, {"passphrase": ""}, {"token": ""}} {
		h := newHost(t)
		h.fails(h.configure(config), "Empty argument")
	}
	h := newHost(t)
	h.fails(h.configure(attrs{"key_file": "k", "passphrase": "p"}), "Two ways to open the store")

	for _, name := range []string{"", "a:b", "keep:secret/x"} {
		typ := h.schemas.ResourceSchemas["keep_secret"].ValueType()
		resp, err := h.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: "keep_secret", Config: h.encode(typ, attrs{"name": name, "value_wo": "x"}),
			ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
		})
		h.must(err)
		h.fails(resp.Diagnostics, "Invalid name")
	}
	_, diags := h.open("keep_secret", attrs{"name": "a:b"})
	h.fails(diags, "Invalid name")
}

func TestUnconfiguredProviderSaysSo(t *testing.T) {
	h := newHost(t)
	_, diags := h.data("keep_leases", attrs{})
	h.fails(diags, "Provider not configured")
	h.fails(h.managed("keep_note").apply(attrs{"name": "n", "text": "t"}), "Provider not configured")
}

// TestErrorsPointAtTheFile has stores that cannot be opened: the error points at the argument that names the
// file in question, because only the engine knows whether its value may be shown.
func TestErrorsPointAtTheFile(t *testing.T) {
	store, none := tempStore(t), filepath.Join(t.TempDir(), "none")
	h := configured(t, attrs{"path": store, "passphrase": "a"})
	h.ok(h.managed("keep_note").apply(attrs{"name": "a", "text": "b"}))
	for _, c := range []struct {
		config   attrs
		at, text string
	}{
		{attrs{"path": store, "passphrase": "b"}, `AttributeName("path")`, "move the store's file away. The store was not changed."},
		{attrs{"path": store}, `AttributeName("path")`, "exists, but the key file beside the store (the same name and .key) does not."},
		{attrs{"path": store, "key_file": none}, `AttributeName("key_file")`, "exists, but the key file that the argument key_file names does not."},
		{attrs{"path": store, "passphrase": "a", "token": "c"}, `AttributeName("token")`, ""},
	} {
		diags := newHost(t).configure(c.config)
		if len(diags) != 1 || diags[0].Attribute.String() != c.at || !strings.Contains(diags[0].Detail, c.text) {
			t.Errorf("%v: %q at %v, want %q at %s", c.config, texts(diags), diags[0].Attribute, c.text, c.at)
		}
	}
	t.Setenv("KEEP_PATH", store)
	if diags := newHost(t).configure(attrs{"passphrase": "b"}); len(diags) != 1 || diags[0].Attribute != nil || !strings.Contains(diags[0].Detail, store) {
		t.Errorf("path from the environment: got %q, want one diagnostic with %s, of no attribute", texts(diags), store)
	}
}
