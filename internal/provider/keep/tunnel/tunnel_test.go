package tunnel_test

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gssh "github.com/gliderlabs/ssh"
	"go.uber.org/goleak"
	xssh "golang.org/x/crypto/ssh"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/tunnel"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is an SSH server in this process that forwards connections.
type server struct {
	port int
	key  xssh.Signer

	mu    sync.Mutex
	conns []net.Conn
}

func serve(t *testing.T) *server {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	if s.key, err = xssh.NewSignerFromKey(private); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	g := &gssh.Server{
		HostSigners:                 []gssh.Signer{s.key},
		PasswordHandler:             func(_ gssh.Context, password string) bool { return password == "open sesame" },
		ChannelHandlers:             map[string]gssh.ChannelHandler{"direct-tcpip": gssh.DirectTCPIPHandler},
		LocalPortForwardingCallback: func(gssh.Context, string, uint32) bool { return true },
		ConnCallback: func(_ gssh.Context, conn net.Conn) net.Conn {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.conns = append(s.conns, conn)
			return conn
		},
	}
	served := make(chan struct{})
	go func() {
		_ = g.Serve(l)
		close(served)
	}()
	t.Cleanup(func() {
		_ = g.Close()
		<-served
	})
	return s
}

// cut ends all connections to the server.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
}

// line returns the server's key as a line of a file of known hosts.
func (s *server) line(host string) string {
	return host + " " + strings.TrimSpace(string(xssh.MarshalAuthorizedKey(s.key.PublicKey()))) + "\n"
}

func (s *server) connection(t *testing.T, knownHosts string) *ssh.Connection {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known_hosts")
	filetest.Write(t, file, knownHosts)
	return &ssh.Connection{
		Target:  ssh.Host{Address: "127.0.0.1", Port: s.port, User: "u", Password: ssh.NewSecret("open sesame"), KnownHosts: file},
		Timeout: 30 * time.Second, Agent: ssh.AgentNever,
	}
}

func (s *server) known() string { return s.line(fmt.Sprintf("[127.0.0.1]:%d", s.port)) }

// shout answers each line with the same in capital letters.
func shout(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = c.Close() }()
				for lines := bufio.NewReader(c); ; {
					line, err := lines.ReadString('\n')
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, strings.ToUpper(line))
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// ask sends a line through the tunnel and returns the answer.
func ask(port int, text string) (string, error) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, text+"\n"); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSuffix(answer, "\n"), err
}

// TestTunnel sends much through several connections at once, loses the connection to the server, and closes.
func TestTunnel(t *testing.T) {
	s := serve(t)
	open, err := tunnel.Open(t.Context(), s.connection(t, s.known()), shout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	text := strings.Repeat("what passes through ", 50_000)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got, err := ask(open.Port(), text); err != nil || got != strings.ToUpper(text) {
				t.Errorf("got %d bytes, %v, want the %d sent ones in upper case", len(got), err, len(text))
			}
		})
	}
	all.Wait()
	s.cut()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // until this end has noticed
		if got, err := ask(open.Port(), "again"); err == nil && got == "AGAIN" {
			break
		} else if time.Since(begun) > 20*time.Second {
			t.Fatalf("after the loss of the connection: %q, %v", got, err)
		}
	}
	if err := open.Check(t.Context()); err != nil {
		t.Error(err)
	}
	hanging, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", open.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hanging.Close() }()
	open.Close()
	open.Close()
	if _, err := hanging.Read(make([]byte, 1)); err == nil {
		t.Error("a connection through the closed tunnel is open")
	}
	if err := open.Check(t.Context()); err == nil {
		t.Error("a closed tunnel works")
	}
	for attempt := 1; isOpen(open.Port()); attempt++ { // maybe to another program, which has got the port since
		if attempt == 3 {
			t.Fatal("the port is open")
		}
		if open, err = tunnel.Open(t.Context(), s.connection(t, s.known()), shout(t), 0); err != nil {
			t.Fatal(err)
		}
		open.Close()
	}
}

// isOpen reports whether a port accepts connections.
func isOpen(port int) bool {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// TestNotOpened opens nothing to servers that are not the right ones, and to addresses that they don't reach.
func TestNotOpened(t *testing.T) {
	s, other := serve(t), serve(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nothing := free.Addr().String()
	_ = free.Close()
	taken := shout(t)
	var port int
	if _, err := fmt.Sscanf(taken, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	wrong := s.connection(t, s.known())
	wrong.Target.Password, wrong.Timeout = ssh.NewSecret("wrong"), time.Second
	missing := s.connection(t, "")
	missing.Target.KnownHosts += ".missing"
	for name, test := range map[string]struct {
		server *ssh.Connection
		remote string
		port   int
		want   string
	}{
		"unknown host":   {s.connection(t, other.line("elsewhere")), taken, 0, "is not among the known hosts"},
		"another key":    {s.connection(t, other.line(fmt.Sprintf("[127.0.0.1]:%d", s.port))), taken, 0, "may be another machine"},
		"revoked key":    {s.connection(t, "@revoked "+s.line("*")), taken, 0, "revoked"},
		"no file":        {missing, taken, 0, "the file of known hosts cannot be read"},
		"wrong password": {wrong, taken, 0, "did not accept the login"},
		"unreachable":    {s.connection(t, s.known()), nothing, 0, "the host could not reach the address " + nothing},
		"port taken":     {s.connection(t, s.known()), taken, port, "address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.port != 0 && os.PathSeparator != '/' {
				test.want = "" // other words
			}
			open, err := tunnel.Open(t.Context(), test.server, test.remote, test.port)
			if err == nil {
				open.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "open sesame") {
				t.Errorf("got %q, want %q", err, test.want)
			}
		})
	}
}

// TestKnownByOneOfSeveral accepts a server by one of the keys that are known for it.
func TestKnownByOneOfSeveral(t *testing.T) {
	s, other := serve(t), serve(t)
	host := fmt.Sprintf("[127.0.0.1]:%d", s.port)
	open, err := tunnel.Open(t.Context(), s.connection(t, "# a comment\n"+other.line(host)+s.line(host)), shout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	open.Close()
}
