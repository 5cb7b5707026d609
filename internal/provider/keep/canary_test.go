package keep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// canaryNumber is the canary of arguments that are numbers.
const canaryNumber = 86753

// withheld counts the arguments that had a canary when something failed.
type withheld struct {
	t    *testing.T
	seen map[string]bool
}

// failed checks the diagnostics of what had to fail with such arguments.
func (w *withheld) failed(what string, config attrs, diags []*tfprotov6.Diagnostic) {
	w.t.Helper()
	text := texts(diags)
	if len(diags) == 0 {
		w.t.Errorf("%s: %v did not fail", what, config)
	}
	if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprint(canaryNumber)) {
		w.t.Errorf("%s: a diagnostic has an argument: %s", what, text)
	}
	if strings.TrimSpace(text) == "" {
		w.t.Errorf("%s: nothing is said", what)
	}
	for name, v := range config {
		if s := fmt.Sprint(v); strings.Contains(s, canary) || strings.Contains(s, fmt.Sprint(canaryNumber)) {
			w.seen[what+"."+name] = true
		}
	}
}

// TestErrorsQuoteNoEphemeralArgument has every kind of failure of every ephemeral resource and of the
// provider configuration, with a canary in each argument: the provider itself keeps them out of its errors.
func TestErrorsQuoteNoEphemeralArgument(t *testing.T) {
	dir := filepath.Join(t.TempDir(), canary)
	filetest.Write(t, filepath.Join(dir, "binary"), "\xff"+canary)
	filetest.Write(t, filepath.Join(dir, "large"), strings.Repeat(canary, maxOutput/4))
	t.Setenv("HOME", t.TempDir())
	w := &withheld{t: t, seen: map[string]bool{}}
	h := configured(t, attrs{"path": filepath.Join(t.TempDir(), canary)})
	for name, configs := range failingConfigs(t, dir) {
		for _, config := range configs {
			_, diags := h.open(name, config)
			w.failed(name, config, diags)
		}
	}
	failLater(t, h, w, dir)
	failProvider(t, w, dir)
	requireAll(t, h, w)
}

// failingConfigs returns configurations of ephemeral resources that cannot be opened.
func failingConfigs(t *testing.T, dir string) map[string][]attrs {
	tunnel := func(more attrs) attrs {
		a := attrs{"tunnel_host": canary + ".invalid", "user": canary, "password": canary, "remote_host": canary, "remote_port": 1, "timeout": "1s", "agent": false}
		for name, v := range more {
			a[name] = v
		}
		return a
	}
	complain := shell(t, "echo "+canary+" $SECRET >&2; cat >&2; exit 3")
	return map[string][]attrs{
		"keep_file": {
			{"path": filepath.Join(dir, "none")}, {"path": dir}, {"path": filepath.Join(dir, "binary")}, {"path": filepath.Join(dir, "large")}, {"path": canary + "\x00"},
		},
		"keep_environment": {{"name": canary}, {"name": canary + "=", "default": nil}},
		"keep_secret":      {{"name": canary}, {"name": canary + ":" + canary}},
		"keep_lease":       {{"ttl": canary}, {"ttl": canary, "purpose": canary}, {"purpose": strings.Repeat(canary, 1<<18)}},
		"keep_password": {
			{"length": canaryNumber},
			{"min_lower": canaryNumber},
			{"length": 5, "min_upper": 4000, "min_lower": 4000},
			{"lower": false, "min_lower": 3},
			{"upper": false, "lower": false, "numeric": false, "override_special": canary, "exclude": canary, "min_special": 1},
			{"min_numeric": canaryNumber, "min_special": canaryNumber, "min_upper": canaryNumber},
		},
		"keep_command": {
			{"program": []string{canary}},
			{"program": []string{filepath.Join(dir, "none")}},
			{"program": []string{filepath.Join(dir, "binary")}},
			{"program": []string{dir}},
			{"program": complain, "stdin": canary, "environment": map[string]string{"SECRET": canary, canary: canary}},
			{"program": shell(t, "echo x"), "working_dir": filepath.Join(dir, "none")},
			{"program": shell(t, "echo "+canary+" >&2; sleep 60"), "timeout": "1s"},
			{"program": shell(t, "kill -9 $$ # "+canary)},
			{"program": shell(t, "yes "+canary+" | head -c 1100000")},
			{"program": shell(t, "printf '\\377"+canary+"'")},
			{"program": []string{"x"}, "timeout": canary},
			{"program": []string{"x"}, "renew": []string{canary}, "renew_every": canary},
			{"program": []string{""}, "close": []string{"", canary}},
		},
		"keep_tunnel": {
			tunnel(nil), tunnel(attrs{"known_hosts": filepath.Join(dir, "none")}), tunnel(attrs{"known_hosts": filepath.Join(dir, "binary")}), tunnel(attrs{"host_key": canary}),
			tunnel(attrs{"private_key": canary}), tunnel(attrs{"private_key": canary, "certificate": canary}), tunnel(attrs{"timeout": canary}),
			tunnel(attrs{"tunnel_port": canaryNumber}), tunnel(attrs{"remote_port": canaryNumber}), tunnel(attrs{"local_port": canaryNumber}),
		},
	}
}

// failLater has what was opened fail to be renewed and closed.
func failLater(t *testing.T, h *host, w *withheld, dir string) {
	complain := shell(t, "echo "+canary+" >&2; cat >&2; exit 3")
	for _, later := range [][]string{complain, {canary}, {filepath.Join(dir, "none")}} {
		config := attrs{"program": shell(t, "echo "+canary), "renew": later, "renew_every": "5m", "close": later}
		o, diags := h.open("keep_command", config)
		h.ok(diags)
		w.failed("keep_command", config, o.renew())
		w.failed("keep_command", config, o.close())
	}
	o, diags := h.open("keep_lease", attrs{"purpose": canary})
	h.ok(diags)
	h.ok(o.close())
	diags = o.renew()
	w.failed("keep_lease", attrs{"purpose": canary}, diags)
	if id := fmt.Sprint(o.result["lease_id"]); strings.Contains(texts(diags), id) {
		t.Errorf("a diagnostic has the result lease_id: %s", texts(diags))
	}
	m := h.managed("keep_secret")
	config := attrs{"name": "a", "value_wo": strings.Repeat(canary, 1<<18), "value_wo_version": 1}
	w.failed("keep_secret", config, m.apply(config))
}

// failProvider has provider configurations fail, at once or with what uses them.
func failProvider(t *testing.T, w *withheld, dir string) {
	store := filepath.Join(dir, "store")
	h := configured(t, attrs{"path": store})
	h.ok(h.managed("keep_secret").apply(attrs{"name": "a", "value_wo": "v", "value_wo_version": 1}))
	if err := os.Rename(store+".key", store+".moved"); err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(dir, "file"), canary)
	locked := filepath.Join(dir, "locked")
	filetest.Write(t, filepath.Join(locked, "empty"), "")
	if err := os.Mkdir(filepath.Join(locked, "s.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, config := range []attrs{
		{"path": store},
		{"path": store, "key_file": filepath.Join(dir, "none")},
		{"path": store, "key_file": filepath.Join(dir, "binary")},
		{"path": store, "key_file": dir},
		{"path": store, "passphrase": canary},
		{"path": store, "passphrase": canary, "key_file": canary},
		{"path": store, "key_file": store + ".moved", "token": canary},
		{"path": dir},
		{"path": filepath.Join(dir, "file", "store")},
		{"path": filepath.Join(dir, "binary"), "passphrase": canary},
		{"path": filepath.Join(dir, "large")},
		{"path": filepath.Join(locked, "s")},
		{"path": filepath.Join(dir, "new"), "key_file": filepath.Join(dir, "file", "key")},
		{"path": canary + "\x00"},
	} {
		h := newHost(t)
		diags := h.configure(config)
		if len(diags) == 0 {
			diags = h.managed("keep_secret").apply(attrs{"name": "a", "value_wo": "v", "value_wo_version": 1})
		}
		w.failed("provider", config, diags)
	}
}

// requireAll checks that each argument had its canary.
func requireAll(t *testing.T, h *host, w *withheld) {
	blocks := map[string]*tfprotov6.Schema{"provider": h.schemas.Provider}
	for name, s := range h.schemas.EphemeralResourceSchemas {
		blocks[name] = s
	}
	w.seen["keep_environment.default"] = true // with it, nothing can fail
	for what, s := range blocks {
		for _, a := range s.Block.Attributes {
			if (a.Required || a.Optional) && !a.Type.Is(tftypes.Bool) && !w.seen[what+"."+a.Name] {
				t.Errorf("%s.%s: no failure was tried", what, a.Name)
			}
		}
	}
	if !w.seen["keep_secret.value_wo"] {
		t.Error("keep_secret.value_wo: no failure was tried")
	}
}
