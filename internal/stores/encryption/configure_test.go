package encryption

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/language/config"
)

func TestConfigurationErrors(t *testing.T) {
	provider := func(args string) string {
		return "key_provider \"pbkdf2\" \"a\" {\n" + args + "\n}\nmethod \"aes_gcm\" \"a\" {\n  keys = key_provider.pbkdf2.a\n}\n" + stateA
	}
	for _, c := range []struct{ text, want string }{
		{stateA, `There is no block method "aes_gcm" "a"`},
		{"state {\n  enforced = true\n}", "Missing encryption method"},
		{"method \"aes_gmc\" \"a\" {\n}\nstate {\n  method = method.aes_gmc.a\n}", `Did you mean "aes_gcm"?`},
		{"state {\n  method = \"method.aes_gcm\"\n}", "as method.TYPE.NAME"},
		{`{"state": {"method": "method.a"}}`, `as \"method.TYPE.NAME\"`},
		{"method \"aes_gcm\" \"a\" {\n}\n" + stateA, `needs the argument "keys"`},
		{"method \"aes_gcm\" \"a\" {\n  keys = key_provider.pbkdf2.b\n}\n" + stateA, `There is no block key_provider "pbkdf2" "b"`},
		{"key_provider \"nope\" \"b\" {\n}\nmethod \"aes_gcm\" \"a\" {\n  keys = key_provider.nope.b\n}\n" + stateA, `There is no key provider of the type "nope"`},
		{provider(""), "exactly one of passphrase and chain"},
		{provider("passphrase = \"c4nary\""), "the passphrase is too short"},
		{provider("passphrase = [\"c4nary\"]"), `The argument "passphrase" must be a string`},
		{provider("passphrase = \"c4nary-passphrase\"\niterations = 1"), "iterations must be a whole number from 200000"},
		{provider("passphrase = \"c4nary-passphrase\"\nhash_function = \"sha1\""), "must be sha256 or sha512"},
		{provider("passphrase = \"c4nary-passphrase\"\npassprase = \"c4nary\""), `Did you mean "passphrase"?`},
		{provider("chain = key_provider.pbkdf2.a"), "gets its key from itself"},
		{keyA + plain + "state {\n  method = method.aes_gcm.a\n  enforced = true\n  fallback {\n    method = method.unencrypted.u\n  }\n}", "Unencrypted method is forbidden"},
	} {
		_, diags := configure(t, c.text)
		text := strings.ReplaceAll(fmt.Sprint(diags), `\"`, `"`)
		if want := strings.ReplaceAll(c.want, `\"`, `"`); !diags.HasErrors() || !strings.Contains(text, want) || strings.Contains(text, "c4nary") {
			t.Errorf("%s: %v, want %q", c.text, diags, want)
		}
		for _, d := range diags {
			if r := d.Subject; r != nil && strings.Contains(c.want, "passphrase") && r.Start.Line != 1 && !strings.Contains(c.want, "Did you mean") {
				t.Errorf("%s: got the error at line %d, which has a key, want it at line 1", c.want, r.Start.Line)
			}
		}
	}
}

// Blocks that no file uses may be incomplete: the environment decides which are used.
func TestUnusedBlocks(t *testing.T) {
	set, diags := configure(t, "key_provider \"nope\" \"b\" {\n}\nmethod \"aes_gcm\" \"a\" {\n}\n")
	if len(diags) > 0 || set.State != nil || set.Plan != nil || set.Remote("x") != nil {
		t.Errorf("%+v, %v", set, diags)
	}
}

func TestUnencryptedMethodIsWarnedOf(t *testing.T) {
	_, diags := configure(t, plain+"state {\n  method = method.unencrypted.u\n}\n")
	if len(diags) != 1 || diags.HasErrors() || diags[0].Summary != "Unencrypted method configured" {
		t.Error(diags)
	}
}

func TestRemoteStates(t *testing.T) {
	set := must(t, keyA+keyB+"remote_state_data_sources {\n  default {\n    method = method.aes_gcm.a\n  }\n  remote_state_data_source \"c[0].r\" {\n    method = method.aes_gcm.b\n  }\n}\n")
	stored := sealed(t, set.Remote("any"))
	opens(t, set.Remote("other.any"), stored)
	refuses(t, set.Remote("c[0].r"), stored, ErrWrongKey, "")
}

func TestMerge(t *testing.T) {
	parse := func(text string) *config.Encryption {
		e, diags := config.ParseEncryption([]byte(text), "test")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return e
	}
	under := parse(keyA + "state {\n  enforced = true\n}\n")
	over := parse(`{"key_provider": {"pbkdf2": {"a": {"passphrase": "another-passphrase"}}}, "state": {"method": "method.aes_gcm.a", "fallback": {"method": "method.x.y"}}}`)
	e := under.Merge(over)
	a := e.KeyProviders[config.EncryptionName{Type: "pbkdf2", Name: "a"}]
	if len(a.Attrs) != 3 || len(e.State.Attrs) != 2 || e.State.Fallback == nil || len(e.Methods) != 1 || len(under.State.Attrs) != 1 {
		t.Errorf("Merge: got %+v, want 3 arguments of the key provider, and a fallback of the state", e)
	}
	if v, _ := a.Attrs["passphrase"].Expr.Value(nil); v.AsString() != "another-passphrase" {
		t.Error(v)
	}
	if under.Merge(nil) != under || (*config.Encryption)(nil).Merge(over) != over {
		t.Error("merging with nothing")
	}
}
