//go:build unix

package ssh

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	gssh "github.com/gliderlabs/ssh"
	"golang.org/x/crypto/ssh"
)

// A connection whose other end has stopped to answer is given up.
func TestSilence(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked, over := make(chan struct{}, 8), make(chan struct{})
	s := &gssh.Server{RequestHandlers: map[string]gssh.RequestHandler{
		"keepalive@openssh.com": func(gssh.Context, *gssh.Server, *ssh.Request) (bool, []byte) {
			asked <- struct{}{}
			if len(asked) > 1 {
				<-over // the second one gets no answer
			}
			return true, nil
		},
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	defer func() {
		close(over)
		_ = s.Close()
		<-done
	}()
	c, err := ssh.Dial("tcp", l.Addr().String(), &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		t.Fatal(err)
	}
	keepAlives(make(chan struct{}), c, 10*time.Millisecond, 1500*time.Millisecond) // returns when the connection is gone
	if len(asked) != 2 {
		t.Errorf("asked %d times, want 2", len(asked))
	}
	if err := c.Wait(); err == nil {
		t.Error("the connection is still there")
	}
}

// What is run and written on Windows is named as its programs understand it.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	unix, windows := &Client{set: &Connection{}}, &Client{set: &Connection{Windows: true}}
	for _, c := range []struct {
		client           *Client
		name, path, word string
	}{
		{unix, "/tmp/s.sh", "/tmp/s.sh", "'/tmp/s.sh'"},
		{unix, "~/s.sh", "s.sh", "'./s.sh'"},
		{unix, "~", ".", "'./.'"},
		{unix, `a\b 'c'/d`, `a\b 'c'/d`, `'a\b '\''c'\''/d'`},
		{windows, `C:\temp\s.cmd`, "C:/temp/s.cmd", "C:/temp/s.cmd"},
		{windows, "C:/windows/temp/s.ps1", "C:/windows/temp/s.ps1", "C:/windows/temp/s.ps1"},
	} {
		path := c.client.remotePath(c.name)
		if p, err := c.client.processFor(path); err != nil || path != c.path || !strings.HasSuffix(" "+p.command, " "+c.word) {
			t.Errorf("%s: got %s %s, want %s %s", c.name, path, p.command, c.path, c.word)
		}
	}
	if name, err := fill(windowsScript); err != nil || name == windowsScript {
		t.Errorf("%q %v", name, err)
	}
	if got := Public(context.DeadlineExceeded); got != "there was no answer in time" {
		t.Error(got)
	}
}
