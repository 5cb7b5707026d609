package encryption

import (
	"context"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// TestSourceIsRemembered writes secrets in many ways, also wrong ones, and plain words besides.
func TestSourceIsRemembered(t *testing.T) {
	const secret = "c4nary-passphrase"
	for _, src := range []string{
		`key_provider "pbkdf2" "main" {` + "\n  passphrase = \"" + secret + "\"\n}",
		"passphrase=" + secret, "passphrase = '" + secret + "'", `passphrase = ["` + secret + `"]`, `passphrase = "` + secret, `passphrase = file("` + secret + `")`,
		`{"key_provider":{"pbkdf2":{"main":{"passphrase":"` + secret + `"}}},"state":{"method":"method.aes_gcm.main"}}`,
		`{"a":{"token": "${` + secret + `}"}}`, `method "age" "a" { identity = "` + secret + `" }`, "client_secret = " + secret + ".a",
	} {
		g := leak.New()
		RememberSource(g, "TF_ENCRYPTION", src)
		if got := g.Redact("There is no " + secret + " here."); strings.Contains(got, "c4nary") {
			t.Errorf("%s: not remembered", src)
		}
	}
	g := leak.New()
	RememberSource(g, "TF_ENCRYPTION", "passphrase = base64decode(var.passphrase)\ntoken = local.vault_token\naddress = \"https://vault.example.com\"\n"+
		`{"passphrase":"${var.passphrase}","address":"https://vault.example.com"}`)
	const plain = "base64decode var.passphrase local.vault_token https://vault.example.com passphrase"
	if got := g.Redact(plain); got != plain {
		t.Errorf("Redact: got %q, want it unchanged: %q", got, plain)
	}
}

// TestSecretsAreRemembered evaluates arguments and obtains a key.
func TestSecretsAreRemembered(t *testing.T) {
	g := leak.New()
	ring := &keyring{EncryptionName: config.EncryptionName{Type: "static", Name: "a"}, provider: fixed("0123456789abcdef"), leaks: g}
	if _, err := ring.encryption(context.Background(), metadata{}); err != nil {
		t.Fatal(err)
	}
	remembered := leak.New()
	set, diags := configureWith(t, remembered, keyA+stateA)
	if diags.HasErrors() || set.State == nil {
		t.Fatal(diags)
	}
	for text, g := range map[string]*leak.Guard{
		"c4nary-passphrase-a":              remembered,
		"MDEyMzQ1Njc4OWFiY2RlZg==":         g,
		"30313233343536373839616263646566": g,
		"0123456789abcdef":                 g,
	} {
		confidential := false
		for m := range g.Matches("a " + text + " b") {
			_, confidential, _ = m.OfRun()
		}
		if !confidential {
			t.Errorf("%s is not remembered", text)
		}
	}
}
