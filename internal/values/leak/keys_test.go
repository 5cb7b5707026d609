package leak

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"
)

// TestPublicLines makes keys of all kinds, since it depends on their lengths which lines a public key shares:
// none may be recognized in it, and the others must be.
func TestPublicLines(t *testing.T) {
	must := func(der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	keys := map[string]any{"RSA": rsaKey}
	_, keys["Ed25519"], _ = ed25519.GenerateKey(rand.Reader)
	for _, c := range []elliptic.Curve{elliptic.P224(), elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		keys[c.Params().Name], _ = ecdsa.GenerateKey(c, rand.Reader)
	}
	shared := 0
	for name, key := range keys {
		private := []*pem.Block{{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))}}
		var public []string
		describe := func(of any) {
			public = append(public, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(of))})))
			if k, err := ssh.NewPublicKey(of); err == nil { // not for P-224
				public = append(public, string(ssh.MarshalAuthorizedKey(k)))
				block, err := ssh.MarshalPrivateKey(key, "")
				if err != nil {
					t.Fatal(err)
				}
				private = append(private, block)
			}
		}
		switch k := key.(type) {
		case *rsa.PrivateKey:
			private = append(private, &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
			describe(&k.PublicKey)
		case *ecdsa.PrivateKey:
			private = append(private, &pem.Block{Type: "EC PRIVATE KEY", Bytes: must(x509.MarshalECPrivateKey(k))})
			describe(&k.PublicKey)
		case ed25519.PrivateKey:
			describe(k.Public())
		}
		for _, block := range private {
			text := string(pem.EncodeToMemory(block))
			g := New()
			g.RememberOwn(Source{Kind: WriteOnly, Address: "a"}, cty.StringVal(text), cty.String)
			for _, p := range public {
				if g.Contains(p) {
					t.Errorf("%s, %s: a part of it is recognized in the public key %q", name, block.Type, p)
				}
			}
			lines := strings.Split(strings.TrimSpace(text), "\n")
			for i, line := range lines[1 : len(lines)-1] {
				stands := strings.HasPrefix(line, openSSH)
				for _, p := range public {
					stands = stands || strings.Contains(strings.ReplaceAll(p, "\n", ""), line)
				}
				_, known := publicLines(text)[line]
				if known {
					shared++
				}
				if !stands && !known && len(line) >= minLine && !g.Contains(line) {
					t.Errorf("%s, %s: line %d of %d is not recognized", name, block.Type, i+1, len(lines)-2)
				}
			}
			if !g.Contains(text) || len(publicLines(text)) >= len(lines)-2 {
				t.Errorf("%s, %s: it is not recognized", name, block.Type)
			}
		}
	}
	if shared == 0 {
		t.Error("no key shares a line with its public key")
	}
}

// TestPublicLinesBroken looks for public keys in texts that have none.
func TestPublicLinesBroken(t *testing.T) {
	for _, body := range []string{"", "MIIEvQIBADANBg", "b3BlbnNzaC1rZXktdjEA", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU=", "b3BlbnNzaC1rZXktdjEA/////w==", "MAA=", "MAUCAQEEAA=="} {
		if got := publicLines("-----BEGIN PRIVATE KEY-----\n" + body + "\n-----END PRIVATE KEY-----\n"); len(got) > 0 {
			t.Errorf("%q: %v", body, got)
		}
	}
}
