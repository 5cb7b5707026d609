//go:build unix

package ssh_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

func TestBastion(t *testing.T) {
	t.Parallel()
	k := newKey(t, "ed25519")
	bastion, target := serve(t, accepts(k)), serve(t, password("inner"))
	c := &ssh.Connection{Target: target.host(), Bastion: &ssh.Host{Address: "127.0.0.1", Port: bastion.port, PrivateKey: ssh.NewSecret(k.pem)}}
	c.Target.Password = ssh.NewSecret("inner")
	works(t, c)
	if bastion.logins.Load() != 1 || target.logins.Load() != 1 {
		t.Errorf("got %d connections to the bastion and %d to the target, want one of each", bastion.logins.Load(), target.logins.Load())
	}

	other := *c.Bastion
	other.HostKey = ssh.NewSecret(k.line)
	if _, err := ssh.Dial(t.Context(), &ssh.Connection{Target: c.Target, Bastion: &other}, nil); err == nil || !strings.Contains(err.Error(), "not the one") {
		t.Errorf("error of a bastion with another key = %v", err)
	}

	lost := c.Target
	lost.Port = closedPort(t)
	_, err := ssh.Dial(t.Context(), &ssh.Connection{Target: lost, Bastion: c.Bastion, Timeout: 2 * time.Second}, nil)
	if err == nil || !strings.Contains(err.Error(), "bastion host could not reach the target") || strings.Contains(ssh.Public(err), "127.") {
		t.Errorf("error of a target that is not there = %v", err)
	}
}

// closedPort is a port without a listener.
func closedPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// proxyHandler is a proxy that wants a login. SSH's first words come right behind its answer.
func proxyHandler(t *testing.T, user, word string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		if u, p, _ := given.BasicAuth(); r.Method != http.MethodConnect || u != user || p != word {
			http.Error(w, "who are you?", http.StatusProxyAuthRequired)
			return
		}
		target, err := net.Dial("tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		banner := make([]byte, 4)
		_, _ = io.ReadFull(target, banner)
		_, _ = conn.Write(append([]byte("HTTP/1.1 200 Connection established\r\n\r\n"), banner...))
		go func() {
			_, _ = io.Copy(target, conn)
			_ = target.Close()
		}()
		_, _ = io.Copy(conn, target)
		_ = conn.Close()
	})
}

func TestProxy(t *testing.T) {
	t.Parallel()
	s := serve(t, password("p"))
	p := httptest.NewServer(proxyHandler(t, "u", "pr0xy"))
	t.Cleanup(p.Close)
	c := &ssh.Connection{Target: s.host(), Proxy: &ssh.Proxy{
		Address: "127.0.0.1", Port: p.Listener.Addr().(*net.TCPAddr).Port, User: "u", Password: ssh.NewSecret("pr0xy"),
	}}
	c.Target.Password = ssh.NewSecret("p")
	works(t, c)

	c.Bastion = &ssh.Host{Address: "127.0.0.1", Port: s.port, Password: c.Target.Password}
	works(t, c)

	begin := time.Now()
	c.Proxy.Password = ssh.NewSecret("wr0ng")
	_, err := ssh.Dial(t.Context(), c, nil)
	if err == nil || !strings.Contains(err.Error(), "Proxy Authentication Required") || strings.Contains(err.Error(), "wr0ng") || time.Since(begin) > 10*time.Second {
		t.Errorf("error = %v", err)
	}
}

// The certificate of an HTTPS proxy must be good.
func TestSecureProxy(t *testing.T) {
	t.Parallel()
	p := httptest.NewUnstartedServer(proxyHandler(t, "", ""))
	p.TLS = &tls.Config{}
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.StartTLS()
	t.Cleanup(p.Close)
	_, err := ssh.Dial(t.Context(), &ssh.Connection{
		Target: ssh.Host{Address: "127.0.0.1", Port: 22}, Timeout: 2 * time.Second,
		Proxy: &ssh.Proxy{Scheme: "https", Address: "127.0.0.1", Port: p.Listener.Addr().(*net.TCPAddr).Port},
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error = %v", err)
	}
}

// socks serves one connection as a SOCKS5 proxy with a login does.
func socks(t *testing.T, l net.Listener, target string) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(conn, b); err != nil {
			t.Error(err)
		}
		return b
	}
	read(int(read(2)[1])) // methods
	_, _ = conn.Write([]byte{5, 2})
	user := read(int(read(2)[1]))
	word := read(int(read(1)[0]))
	if string(user) != "u" || string(word) != "pr0xy" {
		t.Errorf("login: got %q, %q, want \"u\", \"pr0xy\"", user, word)
	}
	_, _ = conn.Write([]byte{1, 0})
	read(4 + 4 + 2) // connect to an address of version 4
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	out, err := net.Dial("tcp", target)
	if err != nil {
		t.Error(err)
		return
	}
	go func() {
		_, _ = io.Copy(out, conn)
		_ = out.Close()
	}()
	_, _ = io.Copy(conn, out)
	_ = conn.Close()
}

func TestSocksProxy(t *testing.T) {
	t.Parallel()
	s := serve(t, password("p"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go socks(t, l, s.address)
	c := &ssh.Connection{Target: s.host(), Proxy: &ssh.Proxy{
		Scheme: "socks5", Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "u", Password: ssh.NewSecret("pr0xy"),
	}}
	c.Target.Password = ssh.NewSecret("p")
	works(t, c)
}

// blackHole is a port that accepts connections and says nothing.
func blackHole(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().(*net.TCPAddr).Port
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	_, err := ssh.Dial(t.Context(), &ssh.Connection{Target: ssh.Host{Address: "127.0.0.1", Port: blackHole(t)}, Timeout: 300 * time.Millisecond}, nil)
	if err == nil || !strings.Contains(err.Error(), "in time (300ms)") || time.Since(begin) > 10*time.Second {
		t.Errorf("error = %v", err)
	}
	if public := ssh.Public(err); strings.Contains(public, "127.") || strings.Contains(public, "300") {
		t.Errorf("public: %s", public)
	}
}

func TestInterruptWhileConnecting(t *testing.T) {
	t.Parallel()
	for name, port := range map[string]int{"no answer": blackHole(t), "pause": closedPort(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, err := ssh.Dial(ctx, &ssh.Connection{Target: ssh.Host{Address: "127.0.0.1", Port: port}}, nil)
			if err == nil || !strings.Contains(err.Error(), "interrupted") || time.Since(begin) > 10*time.Second {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// A host that comes up while it is waited for is reached.
func TestHostComesUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().(*net.TCPAddr)
	_ = l.Close()
	c := &ssh.Connection{Target: ssh.Host{Address: "127.0.0.1", Port: address.Port, Password: ssh.NewSecret("p")}}
	var told []string
	client, err := ssh.Dial(t.Context(), c, func(reason string) {
		if told = append(told, reason); len(told) > 1 {
			return
		}
		l, err := net.ListenTCP("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		serveOn(t, l, password("p"))
	})
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if len(told) == 0 || !strings.Contains(told[0], "refused") || strings.Contains(told[0], "127.") {
		t.Errorf("told: %q", told)
	}
}

func TestVersion6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6: ", err)
	}
	s := serveOn(t, l, password("p"))
	for _, address := range []string{"::1", "[::1]"} {
		works(t, &ssh.Connection{Target: ssh.Host{Address: address, Port: s.port, Password: ssh.NewSecret("p")}})
	}
}
