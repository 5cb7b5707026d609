//go:build unix

package ssh_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gssh "github.com/gliderlabs/ssh"
	"github.com/pkg/sftp"
	"go.uber.org/goleak"
	xssh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is an SSH server in this process. The home directory of all its users is home.
type server struct {
	*gssh.Server
	address string
	port    int
	home    string

	mu       sync.Mutex
	commands []string

	forwards atomic.Int32 // sessions that asked for the agent to be forwarded
	logins   atomic.Int32 // connections
}

// serve starts a server that lets everybody in whom one of the options lets in.
func serve(t *testing.T, options ...func(*gssh.Server)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, options...)
}

func serveOn(t *testing.T, l net.Listener, options ...func(*gssh.Server)) *server {
	t.Helper()
	s := &server{Server: &gssh.Server{}, home: t.TempDir()}
	s.Handler = s.run
	s.SubsystemHandlers = map[string]gssh.SubsystemHandler{"sftp": s.files}
	s.ChannelHandlers = map[string]gssh.ChannelHandler{"session": gssh.DefaultSessionHandler, "direct-tcpip": gssh.DirectTCPIPHandler}
	s.LocalPortForwardingCallback = func(gssh.Context, string, uint32) bool { return true }
	s.ConnCallback = func(_ gssh.Context, conn net.Conn) net.Conn {
		s.logins.Add(1)
		return conn
	}
	for _, o := range options {
		o(s.Server)
	}
	if len(s.HostSigners) == 0 {
		s.AddHostKey(newKey(t, "ed25519").signer)
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	s.address = l.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return s
}

func (s *server) host() ssh.Host {
	return ssh.Host{Address: "127.0.0.1", Port: s.port, User: "somebody"}
}

// run runs a command with the shell, in a process group that signals reach.
func (s *server) run(sess gssh.Session) {
	s.mu.Lock()
	s.commands = append(s.commands, sess.RawCommand())
	s.mu.Unlock()
	if gssh.AgentRequested(sess) {
		s.forwards.Add(1)
	}
	cmd := exec.Command("/bin/sh", "-c", sess.RawCommand())
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = s.home, sess, sess.Stderr(), []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = sess.Exit(127)
		return
	}
	signals := make(chan gssh.Signal, 8)
	sess.Signals(signals)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-signals:
				number := map[gssh.Signal]syscall.Signal{gssh.SIGINT: syscall.SIGINT, gssh.SIGKILL: syscall.SIGKILL}[sig]
				_ = syscall.Kill(-cmd.Process.Pid, number)
			case <-sess.Context().Done():
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				return
			case <-over:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(over)
	var exit *exec.ExitError
	switch {
	case err == nil:
		_ = sess.Exit(0)
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		_ = sess.Exit(exit.ExitCode())
	default:
		_ = sess.Exit(130)
	}
}

func (s *server) files(sess gssh.Session) {
	srv, err := sftp.NewServer(sess, sftp.WithServerWorkingDirectory(s.home))
	if err != nil {
		return
	}
	if err := srv.Serve(); errors.Is(err, io.EOF) {
		_ = srv.Close()
	}
}

func (s *server) ran() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, "\n")
}

// key is a key pair.
type key struct {
	raw    crypto.PrivateKey
	signer xssh.Signer
	pem    string
	line   string // the public key
}

func newKey(t *testing.T, kind string) key {
	t.Helper()
	var k key
	var err error
	switch kind {
	case "rsa":
		k.raw, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ecdsa":
		k.raw, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		_, k.raw, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	if k.signer, err = xssh.NewSignerFromKey(k.raw); err != nil {
		t.Fatal(err)
	}
	block, err := xssh.MarshalPrivateKey(k.raw, "")
	if err != nil {
		t.Fatal(err)
	}
	k.pem = string(pem.EncodeToMemory(block))
	k.line = string(xssh.MarshalAuthorizedKey(k.signer.PublicKey()))
	return k
}

// certify returns the certificate of k, signed by ca.
func certify(t *testing.T, k, ca key, kind uint32, principal string) *xssh.Certificate {
	t.Helper()
	c := &xssh.Certificate{
		Key: k.signer.PublicKey(), CertType: kind, ValidPrincipals: []string{principal},
		ValidBefore: uint64(time.Now().Add(time.Hour).Unix()),
	}
	if err := c.SignCert(rand.Reader, ca.signer); err != nil {
		t.Fatal(err)
	}
	return c
}

// startAgent serves an agent with the keys on a socket and returns the socket's name.
func startAgent(t *testing.T, keys ...key) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, k := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: k.raw, Comment: "comment of " + k.line}); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "agent") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				_ = agent.ServeAgent(ring, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
		_ = os.RemoveAll(dir)
	})
	return socket
}

func password(word string) func(*gssh.Server) {
	return func(s *gssh.Server) {
		s.PasswordHandler = func(_ gssh.Context, got string) bool { return got == word }
	}
}

func accepts(keys ...key) func(*gssh.Server) {
	return func(s *gssh.Server) {
		s.PublicKeyHandler = func(_ gssh.Context, got gssh.PublicKey) bool {
			for _, k := range keys {
				if gssh.KeysEqual(got, k.signer.PublicKey()) {
					return true
				}
			}
			return false
		}
	}
}

// dial connects, or ends the test.
func dial(t *testing.T, c *ssh.Connection) *ssh.Client {
	t.Helper()
	client, err := ssh.Dial(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// open is a server with a client that is connected to it.
func open(t *testing.T, change func(*ssh.Connection)) (*server, *ssh.Client) {
	t.Helper()
	s := serve(t, password("open"))
	c := &ssh.Connection{Target: s.host(), Agent: ssh.AgentNever}
	c.Target.Password = ssh.NewSecret("open")
	if change != nil {
		change(c)
	}
	return s, dial(t, c)
}

// output collects lines.
type output struct {
	lines []string
	first chan struct{} // closed with the first line
}

func newOutput() *output { return &output{first: make(chan struct{})} }

func (o *output) line(text string) {
	if len(o.lines) == 0 {
		close(o.first)
	}
	o.lines = append(o.lines, text)
}

// run runs a command that nothing interrupts.
func run(t *testing.T, c *ssh.Client, command string) (string, error) {
	t.Helper()
	o := newOutput()
	err := c.Run(t.Context(), context.Background(), command, o.line)
	return strings.Join(o.lines, "\n"), err
}
