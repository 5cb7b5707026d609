//go:build unix

package ssh_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	xssh "golang.org/x/crypto/ssh"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	filetest.Write(t, path, text)
	return path
}

// No way of printing shows a secret, neither by itself nor within settings.
func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	canary := ssh.NewSecret("c4nary")
	c := ssh.Connection{Target: ssh.Host{Password: canary, PrivateKey: canary}, Bastion: &ssh.Host{Certificate: canary}, Proxy: &ssh.Proxy{Password: canary}}
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
	locked, err := xssh.MarshalPrivateKeyWithPassphrase(k.raw, "", []byte("phrase"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.Replace(k.pem, "b3BlbnNzaC1rZXktdjE", "b3BlbnNzaC1rZXktdjI", 1)
	block := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("c4nary-c4nary")})
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("c4nary-c4nary")})
	foreign := ssh.NewSecret(string(xssh.MarshalAuthorizedKey(certify(t, other, k, xssh.UserCert, "x"))))
	for _, c := range []struct {
		name           string
		conn           ssh.Connection
		argument, text string
	}{
		{"nothing", ssh.Connection{}, "", ""},
		{"good", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(k.pem), HostKey: ssh.NewSecret(other.line)}}, "", ""},
		{"locked", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(string(pem.EncodeToMemory(locked)))}}, "private_key", "passphrase"},
		{"encrypted", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(string(encrypted))}}, "private_key", "encrypted"},
		{"damaged", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(damaged)}}, "private_key", "damaged"},
		{"no key in PEM", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(string(block))}}, "private_key", "damaged"},
		{"name of a file", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret("~/.ssh/c4nary")}}, "private_key", "file(…)"},
		{"some text", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret("c4nary\nc4nary\n")}}, "private_key", "PEM"},
		{"public key", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(k.line)}}, "private_key", "public key"},
		{"PuTTY", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret("PuTTY-User-Key-File-3: c4nary")}}, "private_key", "PuTTYgen"},
		{"certificate alone", ssh.Connection{Target: ssh.Host{Certificate: foreign}}, "certificate", "needs the private key"},
		{"foreign certificate", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(k.pem), Certificate: foreign}}, "certificate", "another private key"},
		{"no certificate", ssh.Connection{Target: ssh.Host{PrivateKey: ssh.NewSecret(k.pem), Certificate: ssh.NewSecret(k.line)}}, "certificate", "not an OpenSSH certificate"},
		{"host key", ssh.Connection{Target: ssh.Host{HostKey: ssh.NewSecret("SHA256:c4nary")}}, "host_key", "not a public key"},
		{"port", ssh.Connection{Target: ssh.Host{Port: 65536}}, "port", "65535"},
		{"bastion", ssh.Connection{Bastion: &ssh.Host{PrivateKey: ssh.NewSecret("c4nary")}}, "bastion_private_key", "file(…)"},
		{"proxy", ssh.Connection{Proxy: &ssh.Proxy{Scheme: "c4nary"}}, "proxy_scheme", "socks5"},
		{"timeout", ssh.Connection{Timeout: -time.Second}, "timeout", "negative"},
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
			_, err := ssh.Dial(t.Context(), &c.conn, nil)
			if err == nil || strings.Contains(err.Error()+problems[0].Text, "c4nary") {
				t.Errorf("error = %v", err)
			}
		})
	}
}
