//go:build unix

package remote_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/mayfly-iac/mayfly/remote"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// No way of printing shows a secret, neither by itself nor within settings.
func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	canary := remote.NewSecret("c4nary")
	c := remote.Connection{Target: remote.Host{Password: canary, PrivateKey: canary}, Bastion: &remote.Host{Certificate: canary}, Proxy: &remote.Proxy{Password: canary}}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		text = fmt.Appendf(text, verb+verb+verb+verb, c, *c.Bastion, *c.Proxy, c.Target.Password)
	}
	for _, shown := range []string{"c4nary", fmt.Sprintf("%x", "c4nary")} {
		if strings.Contains(string(text), shown) {
			t.Errorf("shown: %s", text)
		}
	}
}

// Errors about a key show none of its bytes.
func TestCheck(t *testing.T) {
	t.Parallel()
	k, other := newKey(t, "ed25519"), newKey(t, "ecdsa")
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(k.raw, "", []byte("phrase"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.Replace(k.pem, "b3BlbnNzaC1rZXktdjE", "b3BlbnNzaC1rZXktdjI", 1)
	block := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("c4nary-c4nary")})
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("c4nary-c4nary")})
	foreign := remote.NewSecret(string(ssh.MarshalAuthorizedKey(certify(t, other, k, ssh.UserCert, "x"))))
	for _, c := range []struct {
		name           string
		conn           remote.Connection
		argument, text string
	}{
		{"nothing", remote.Connection{}, "", ""},
		{"good", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(k.pem), HostKey: remote.NewSecret(other.line)}}, "", ""},
		{"locked", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(string(pem.EncodeToMemory(locked)))}}, "private_key", "passphrase"},
		{"encrypted", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(string(encrypted))}}, "private_key", "encrypted"},
		{"damaged", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(damaged)}}, "private_key", "damaged"},
		{"no key in PEM", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(string(block))}}, "private_key", "damaged"},
		{"name of a file", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret("~/.ssh/c4nary")}}, "private_key", "file(…)"},
		{"some text", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret("c4nary\nc4nary\n")}}, "private_key", "PEM"},
		{"public key", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(k.line)}}, "private_key", "public key"},
		{"PuTTY", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret("PuTTY-User-Key-File-3: c4nary")}}, "private_key", "PuTTYgen"},
		{"certificate alone", remote.Connection{Target: remote.Host{Certificate: foreign}}, "certificate", "needs the private key"},
		{"foreign certificate", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(k.pem), Certificate: foreign}}, "certificate", "another private key"},
		{"no certificate", remote.Connection{Target: remote.Host{PrivateKey: remote.NewSecret(k.pem), Certificate: remote.NewSecret(k.line)}}, "certificate", "not an OpenSSH certificate"},
		{"host key", remote.Connection{Target: remote.Host{HostKey: remote.NewSecret("SHA256:c4nary")}}, "host_key", "not a public key"},
		{"port", remote.Connection{Target: remote.Host{Port: 65536}}, "port", "65535"},
		{"bastion", remote.Connection{Bastion: &remote.Host{PrivateKey: remote.NewSecret("c4nary")}}, "bastion_private_key", "file(…)"},
		{"proxy", remote.Connection{Proxy: &remote.Proxy{Scheme: "c4nary"}}, "proxy_scheme", "socks5"},
		{"timeout", remote.Connection{Timeout: -time.Second}, "timeout", "negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := c.conn.Check()
			if c.text == "" {
				if len(problems) > 0 {
					t.Errorf("%v", problems)
				}
				return
			}
			if len(problems) != 1 || problems[0].Argument != c.argument || !strings.Contains(problems[0].Text, c.text) {
				t.Fatalf("%v, want %s: … %s …", problems, c.argument, c.text)
			}
			_, err := remote.Dial(t.Context(), &c.conn, nil)
			if err == nil || strings.Contains(err.Error()+problems[0].Text, "c4nary") {
				t.Errorf("error = %v", err)
			}
		})
	}
}
