package encryption

import (
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/state"
)

// still follows no redirects.
var still = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// services gives clients for clouds.
var services = func(http.RoundTripper) *http.Client { return still }

// configure makes a set of the content of an encryption block without variables.
func configure(t testing.TB, text string, environ ...string) (*Set, diag.List) {
	t.Helper()
	return configureWith(t, nil, text, environ...)
}

// configureWith is configure with a guard that remembers the secrets.
func configureWith(t testing.TB, g *leak.Guard, text string, environ ...string) (*Set, diag.List) {
	t.Helper()
	declared, diags := config.ParseEncryption([]byte(text), "test")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	return New(t.Context(), Options{
		Config: declared, Random: rand.Reader, Client: still, Services: services, Environ: vars, Env: append(os.Environ(), environ...), Leaks: g,
		Evaluate: func(expr hcl.Expression, _ bool) (cty.Value, diag.List) {
			v, hd := expr.Value(nil)
			return v, diag.FromHCL(hd)
		},
	})
}

// must is configure without errors.
func must(t testing.TB, text string, environ ...string) *Set {
	t.Helper()
	set, diags := configure(t, text, environ...)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return set
}

// Parts of configurations. The iterations are the least allowed, so that tests are fast.
const (
	keyA = "key_provider \"pbkdf2\" \"a\" {\n  passphrase = \"c4nary-passphrase-a\"\n  iterations = 200000\n  hash_function = \"sha256\"\n}\n" +
		"method \"aes_gcm\" \"a\" {\n  keys = key_provider.pbkdf2.a\n}\n"
	keyB   = "key_provider \"pbkdf2\" \"b\" {\n  passphrase = \"c4nary-passphrase-b\"\n  iterations = 200000\n}\nmethod \"aes_gcm\" \"b\" {\n  keys = key_provider.pbkdf2.b\n}\n"
	plain  = "method \"unencrypted\" \"u\" {}\n"
	stateA = "state {\n  method = method.aes_gcm.a\n}\n"
)

const content = `{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l","outputs":{"c4nary":{"value":1,"type":"number"}},"resources":[]}`

var meta = state.Meta{Serial: 7, Lineage: "l"}

// sealed encrypts the content.
func sealed(t *testing.T, c *Codec) []byte {
	t.Helper()
	b, err := c.EncryptState([]byte(content), meta)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "c4nary") {
		t.Errorf("the stored form shows its content: %s", b)
	}
	return b
}

// opens checks that a codec decrypts what stands for the content.
func opens(t *testing.T, c *Codec, stored []byte) {
	t.Helper()
	got, of, err := c.DecryptState(stored)
	if err != nil || string(got) != content {
		t.Fatalf("DecryptState: got %q, %v, want %q", got, err, content)
	}
	if of != nil && *of != meta {
		t.Errorf("DecryptState: got the metadata %+v, want %+v", of, meta)
	}
}

// refuses checks the error of decrypting, which shows no key.
func refuses(t *testing.T, c *Codec, stored []byte, want error, text string) {
	t.Helper()
	got, _, err := c.DecryptState(stored)
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) || got != nil && !errors.Is(err, ErrUnencrypted) {
		t.Errorf("%q, %v; want %v with %q", got, err, want, text)
	}
	if err != nil && strings.Contains(err.Error(), "c4nary") {
		t.Errorf("a secret is shown: %v", err)
	}
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "opentofu", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
