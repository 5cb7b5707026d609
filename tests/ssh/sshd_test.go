//go:build unix

package ssh

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// installed returns the path of sshd, which it installs once where that is possible: on Debian and as root.
var installed = sync.OnceValues(func() (string, error) {
	find := func() (string, error) {
		for _, name := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
			if path, err := exec.LookPath(name); err == nil {
				return path, nil
			}
		}
		return "", fmt.Errorf("there is no sshd on this machine")
	}
	path, err := find()
	if err == nil {
		return path, nil
	}
	if _, apt := exec.LookPath("apt-get"); apt != nil || os.Getuid() != 0 {
		return "", fmt.Errorf("%w, and without apt-get and root it cannot be installed", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for _, args := range [][]string{{"update", "-q"}, {"install", "-q", "-y", "--no-install-recommends", "openssh-server"}} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1") // installed, not started
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("there is no sshd on this machine, and apt-get %s failed: %w\n%s", args[0], err, out)
		}
	}
	return find()
})

// sshd is a running server.
type sshd struct {
	port    int
	hostKey string // line of its public key
	log     *lockedBuffer
}

// lockedBuffer is a buffer that a process writes while the test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts a server that lets the current user in with the key, or with a certificate of the authority if
// the key is nil.
func start(t *testing.T, login, authority *key) *sshd {
	t.Helper()
	path, err := installed()
	if err != nil {
		t.Skip(err)
	}
	if os.Getuid() == 0 { // where sshd puts its processes without rights
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	host := newKey(t)
	settings := []string{
		"ListenAddress 127.0.0.1", "HostKey " + filepath.Join(dir, "host_key"), "UsePAM no", "StrictModes no", "PidFile none", "PermitRootLogin yes",
		"PasswordAuthentication no", "MaxStartups 100", "Subsystem sftp internal-sftp -u 0002", "LogLevel VERBOSE",
	}
	save := func(name, text string) {
		filetest.Write(t, filepath.Join(dir, name), text)
	}
	save("host_key", host.pem)
	settings = append(settings, "AuthorizedKeysFile "+filepath.Join(dir, "authorized_keys"))
	if login != nil {
		save("authorized_keys", login.line)
	}
	if authority != nil {
		save("authorities", authority.line)
		settings = append(settings, "TrustedUserCAKeys "+filepath.Join(dir, "authorities"))
	}
	// Newer servers lock out who fails to log in a few times, which is what some tests do on purpose; older
	// ones don't know the setting.
	const forgiving = "PerSourcePenalties no"
	file := filepath.Join(dir, "sshd_config")
	save("sshd_config", strings.Join(append(settings, forgiving), "\n")+"\n")
	if exec.Command(path, "-t", "-f", file).Run() != nil {
		save("sshd_config", strings.Join(settings, "\n")+"\n")
	}
	return launch(t, path, file, host.line)
}

// launch starts sshd on a port that is free; another process may take it in between, so it tries some.
func launch(t *testing.T, path, file, hostKey string) *sshd {
	t.Helper()
	s := &sshd{hostKey: hostKey, log: &lockedBuffer{}}
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		cmd := exec.Command(path, "-D", "-e", "-f", file, "-p", fmt.Sprint(s.port))
		cmd.Stderr = s.log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			<-ended
		})
		if s.up(ended) {
			return s
		}
	}
	t.Fatalf("sshd did not start:\n%s", s.log)
	return nil
}

// up waits until the server listens, or has ended.
func (s *sshd) up(ended <-chan struct{}) bool {
	for range 1000 {
		conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", s.port))
		if err == nil {
			_ = conn.Close()
			return strings.Contains(s.log.String(), "Server listening")
		}
		select {
		case <-ended:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

func me(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

// key is a key pair.
type key struct {
	raw       ed25519.PrivateKey
	signer    ssh.Signer
	pem, line string
}

func newKey(t *testing.T) *key {
	t.Helper()
	_, raw, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(raw, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &key{raw, signer, string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(signer.PublicKey()))}
}

// certificate returns the line of a user's certificate, signed by the authority.
func (k *key) certificate(t *testing.T, authority *key, principal string) string {
	t.Helper()
	c := &ssh.Certificate{Key: k.signer.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{principal}, ValidBefore: ssh.CertTimeInfinity}
	c.Permissions.Extensions = map[string]string{"permit-pty": "", "permit-port-forwarding": "", "permit-agent-forwarding": ""}
	if err := c.SignCert(rand.Reader, authority.signer); err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(c))
}

// serveAgent serves an agent with the key on a socket and returns its name.
func serveAgent(t *testing.T, k *key) string {
	t.Helper()
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: k.raw, Comment: "the key"}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agent") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = agent.ServeAgent(ring, conn)
				_ = conn.Close()
			}()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		_ = os.RemoveAll(dir)
	})
	return filepath.Join(dir, "s")
}
