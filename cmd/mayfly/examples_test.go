package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sshserver "github.com/gliderlabs/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestExampleREADMEs runs the commands that the READMEs of the examples show, as they are, each in a copy of
// its directory: each command twice, and all of them once more after the last, which destroys. Afterwards
// no file has the secrets that they give.
func TestExampleREADMEs(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join("..", "..", "examples", "*"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("no example was found: %v", err)
	}
	var all []*walkthrough
	for _, example := range examples {
		text, err := os.ReadFile(filepath.Join(example, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(example)
		found := walkthroughs(t, name, string(text), true)
		found[0].repeated = true
		if len(found) == 0 {
			t.Fatalf("the README of %s shows no commands", name)
		}
		found[0].begin = "exec cp -R '" + filetest.Sources(t, example, cheap) + "' work\n"
		if _, err := os.Stat(filepath.Join(example, "main.go")); err == nil {
			found[0].begin = compiled(t) + "symlink work -> $EXAMPLES/" + name + "\n" // it belongs to the module
		}
		found[0].end = "nosecret a-secret-key\n"
		if name == "tunnel" {
			if _, err := exec.LookPath("curl"); err != nil {
				t.Logf("the example tunnel is not run: %v", err)
				continue
			}
			found[0].begin += bastion(t)
			found[0].end += "grep 'only for those behind the bastion' out/1\nnosecret 'OPENSSH PRIVATE KEY'\n"
		}
		if name == "rounds-postgresql" {
			installed := realProviders(t)
			if installed == "" {
				continue
			}
			found[0].begin += installed
		}
		found[0].postgres = strings.Contains(string(text), "PG_CONN_STR") || strings.Contains(string(text), "PGHOST")
		all = append(all, found...)
	}
	runWalkthroughs(t, all)
}

// realProviders returns a line of a script that installs the providers of others from the filesystem mirror
// that MAYFLY_TEST_MIRROR names; "" if it lacks the provider of PostgreSQL.
func realProviders(t *testing.T) string {
	t.Helper()
	mirror := os.Getenv("MAYFLY_TEST_MIRROR")
	if _, err := os.Stat(filepath.Join(mirror, "registry.opentofu.org", "cyrilgdn", "postgresql")); mirror == "" || err != nil {
		t.Log("the example rounds-postgresql is not run: MAYFLY_TEST_MIRROR names no filesystem mirror with cyrilgdn/postgresql")
		return ""
	}
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	filetest.Write(t, config, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	return "env TF_CLI_CONFIG_FILE=" + config + "\n"
}

// compiled returns lines of a script that let it use what Go has compiled and downloaded before, and link
// without symbols for debuggers, which is faster.
func compiled(t *testing.T) string {
	t.Helper()
	lines := "env GOFLAGS=-ldflags=-s\n"
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		lines += "env " + name + "=" + string(value)
	}
	return lines
}

// bastion starts an SSH server and a web site, and returns the lines of a script that set the variables of
// the example tunnel to them.
func bastion(t *testing.T) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "only for those behind the bastion\n")
	}))
	t.Cleanup(site.Close)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &sshserver.Server{
		HostSigners: []sshserver.Signer{signer},
		PublicKeyHandler: func(_ sshserver.Context, key sshserver.PublicKey) bool {
			return sshserver.KeysEqual(key, signer.PublicKey())
		},
		ChannelHandlers:             map[string]sshserver.ChannelHandler{"direct-tcpip": sshserver.DirectTCPIPHandler},
		LocalPortForwardingCallback: func(sshserver.Context, string, uint32) bool { return true },
	}
	go server.Serve(listener) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { _ = server.Close() })

	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "key"), string(pem.EncodeToMemory(block)))
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	filetest.Write(t, filepath.Join(dir, "known"), fmt.Sprintf("[127.0.0.1]:%s %s", port, ssh.MarshalAuthorizedKey(signer.PublicKey())))
	_, sitePort, _ := net.SplitHostPort(site.Listener.Addr().String())
	return fmt.Sprintf("env TF_VAR_bastion='{ host = \"127.0.0.1\", port = %s, user = \"u\", key_file = %q, known_hosts = %q }'\n", port, filepath.Join(dir, "key"), filepath.Join(dir, "known")) +
		fmt.Sprintf("env TF_VAR_site='{ host = \"127.0.0.1\", port = %s }'\n", sitePort)
}
