//go:build unix

package ssh

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	gssh "github.com/gliderlabs/ssh"
	"github.com/pkg/sftp"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

const suppressed = "(output suppressed due to ephemeral value in config)"

const keyVariable = `
variable "key" {
  type      = string
  ephemeral = true
}
`

// keyLines are the lines of a key by which its presence would show.
func keyLines(k *key) []string {
	lines := strings.Split(strings.TrimSpace(k.pem), "\n")
	return lines[1 : len(lines)-1]
}

// Where the key is ephemeral, output is hidden; what has no mark is shown, and the provisioner beside it
// prints as usual.
func TestE71EphemeralPrivateKey(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	d := start(t, k, nil)
	s := newSite(t, keyVariable+`resource "terraform_data" "x" {
`+connection(t, d, `private_key = var.key`)+`
provisioner "remote-exec" { inline = ["echo word-$(echo of-output)", "touch HOST/ran"] }
provisioner "file" {
  content     = "text"
  destination = "HOST/file"
}
provisioner "local-exec" { command = "echo word-$(echo of-here)" }
}`)
	s.env = []string{"TF_VAR_key=" + k.pem}
	out := s.apply(0)
	s.says(out, "(remote-exec): "+suppressed, "Host: 127.0.0.1", "Private key: true", "(local-exec): word-of-here")
	s.hides(out, append(keyLines(k), "word-of-output", "PRIVATE KEY")...)
	if got := s.onHost("file"); got != "text" {
		t.Errorf("on the host: got %q, want \"text\"", got)
	}
	s.onHost("ran")
	s.noScripts()
}

// What came of it is hidden in errors too, and the exit status is shown.
func TestE71FailureTellsTheStatus(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	d := start(t, k, nil)
	s := newSite(t, keyVariable+`
variable "word" {
  type      = string
  sensitive = true
}
resource "terraform_data" "x" {
`+connection(t, d, `private_key = var.key`)+`
provisioner "remote-exec" {
  inline     = ["echo word-$(echo of-output); exit 7"]
  on_failure = continue
}
provisioner "remote-exec" { inline = ["echo ${var.word}; exit 9"] }
}`)
	s.env = []string{"TF_VAR_key=" + k.pem, "TF_VAR_word=s3nsitive"}
	out := s.apply(1)
	s.says(out, "Warning: remote-exec provisioner error", suppressed+": exit status 7",
		"Error: remote-exec provisioner error", "(output suppressed due to sensitive, ephemeral value in config): exit status 9")
	s.hides(out, append(keyLines(k), "word-of-output", "s3nsitive")...)
	s.noScripts()
}

// A key that cannot be used is not quoted, not even in part.
func TestE71UnusableKey(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	s := newSite(t, keyVariable+`resource "terraform_data" "x" {
provisioner "remote-exec" {
  inline = ["true"]
  connection {
    host        = "127.0.0.1"
    private_key = var.key
  }
}
}`)
	half := k.pem[:len(k.pem)/2]
	s.env = []string{"TF_VAR_key=" + half + "\n-----END OPENSSH PRIVATE KEY-----\n"}
	out := s.apply(1)
	s.says(out, "Invalid connection argument", "This is not a complete private key")
	s.hides(out, append(keyLines(k), "BEGIN OPENSSH", keyLines(k)[0][:20])...)
}

// Hosts and users that are ephemeral are not shown, neither while connecting nor in errors.
func TestE71EphemeralHost(t *testing.T) {
	t.Parallel()
	s := newSite(t, `
variable "where" {
  type      = object({ host = string, user = string, port = number })
  ephemeral = true
}
resource "terraform_data" "x" {
provisioner "remote-exec" {
  inline = ["true"]
  connection {
    host        = var.where.host
    user        = var.where.user
    port        = var.where.port
    script_path = "/${var.where.user}/x"
    timeout     = "1200ms"
  }
}
provisioner "file" {
  content     = "c0ntent"
  destination = "/d3stination"
  connection {
    host    = var.where.host
  }
}
}`)
	s.env = []string{`TF_VAR_where={"host":"127.0.0.9","user":"n0body","port":1}`}
	out := s.apply(1)
	s.says(out, "Host: (hidden)", "User: (hidden)", "No connection yet, trying again: the host could not be reached: the connection was refused",
		suppressed+": error connecting: no connection was made in time")
	s.hides(out, "127.0.0.9", "n0body")
}

// passwordServer is a server within the test that lets in users with the password; it runs commands with the
// shell.
func passwordServer(t *testing.T, word string, refused *atomic.Int32) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &gssh.Server{
		PasswordHandler: func(_ gssh.Context, got string) bool {
			if got != word {
				refused.Add(1)
			}
			return got == word
		},
		SubsystemHandlers: map[string]gssh.SubsystemHandler{"sftp": func(sess gssh.Session) {
			if srv, err := sftp.NewServer(sess); err == nil {
				if err := srv.Serve(); errors.Is(err, io.EOF) {
					_ = srv.Close()
				}
			}
		}},
		Handler: func(sess gssh.Session) {
			cmd := exec.Command("/bin/sh", "-c", sess.RawCommand())
			cmd.Stdout, cmd.Stderr = sess, sess.Stderr()
			_ = cmd.Run()
			_ = sess.Exit(max(cmd.ProcessState.ExitCode(), 0))
		},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().(*net.TCPAddr).Port
}

// secrets is a configuration whose password, script and file come from ephemeral resources.
func secrets(t *testing.T, port int) *site {
	return newSite(t, fmt.Sprintf(`
ephemeral "sim_secret" "password" { name = "password" }
ephemeral "sim_secret" "script" { name = "script" }
ephemeral "sim_secret" "overridden" { name = "overridden" }
resource "sim_thing" "x" {
  name = "x"
  connection {
    host        = "127.0.0.1"
    port        = %d
    user        = ephemeral.sim_secret.overridden.value
    password    = ephemeral.sim_secret.password.value
    script_path = "HOST/script_%%RAND%%"
    timeout     = "2s"
    agent       = false
  }
  provisioner "remote-exec" {
    inline = ["echo got ${ephemeral.sim_secret.script.value}", "echo ran > HOST/ran; exit ${length(self.name) - 1}"]
    connection { user = "somebody" }
  }
  provisioner "file" {
    content     = ephemeral.sim_secret.script.value
    destination = "HOST/file"
    connection { user = "somebody" }
  }
}`, port))
}

// A password of an ephemeral resource is opened for the provisioners that run and closed after them; it and
// what is done with it stay hidden.
func TestE71EphemeralPassword(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	s := secrets(t, passwordServer(t, simcloud.Canary("sim_secret", "password"), &refused))
	s.must("validate")
	s.must("plan")
	if n := s.transcript().Count(simlog.Filter{RPC: "OpenEphemeralResource"}); n != 0 {
		t.Errorf("planning: got %d opened for provisioners, want none", n)
	}
	out := s.apply(0)
	s.says(out, "(remote-exec): (output suppressed due to sensitive, ephemeral value in config)")
	s.hides(out, "CANARY", "got ")
	if got := s.onHost("file"); got != simcloud.Canary("sim_secret", "script") {
		t.Errorf("on the host: got %q, want the word of sim_secret.script", got)
	}
	s.onHost("ran")
	s.noScripts()
	opened := map[string]int{}
	for _, w := range s.transcript().Windows() {
		opened[w.Name]++
		if !w.Closed() {
			t.Errorf("%s was not closed", w.Name)
		}
	}
	if len(opened) != 2 || opened["password"] != 1 || opened["script"] != 1 {
		t.Errorf("opened: got %v, want password and script once each", opened)
	}
	if refused.Load() != 0 {
		t.Error("another password was tried")
	}
}

// A password that is refused is not shown.
func TestE71RefusedPassword(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	s := secrets(t, passwordServer(t, "another word", &refused))
	out := s.apply(1)
	s.says(out, "(output suppressed due to sensitive, ephemeral value in config): error connecting: no connection was made in time: the host did not accept the login, which was tried with the password")
	s.hides(out, "CANARY", "got ")
	if refused.Load() == 0 {
		t.Error("no password was tried")
	}
	if _, err := os.Stat(s.host + "/ran"); err == nil {
		t.Error("the script was run")
	}
	if open, err := simcloud.OpenLeases(s.cloud); err != nil || len(open) > 0 {
		t.Errorf("open: %v %v", open, err)
	}
}

// A password that nothing marks is not part of any error all the same.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	s := newSite(t, fmt.Sprintf(`
resource "terraform_data" "x" {
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host     = "127.0.0.1"
      port     = %d
      password = trimspace(file("given_password"))
      timeout  = "1s"
    }
  }
}`, passwordServer(t, "right", &refused)))
	s.write("given_password", "wr0ng\n")
	out := s.apply(1)
	s.says(out, "Password: true", "(root at 127.0.0.1:", "which was tried with the password")
	s.hides(out, "wr0ng")
}

// When an object is destroyed, its provisioners work on hosts as they do when it is created.
func TestE72DestroyTime(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	port := passwordServer(t, simcloud.Canary("sim_secret", "password"), &refused)
	s := newSite(t, fmt.Sprintf(`
ephemeral "sim_secret" "password" { name = "password" }
resource "sim_thing" "x" {
  name = "x"
  connection {
    host        = "127.0.0.1"
    port        = %d
    password    = ephemeral.sim_secret.password.value
    script_path = "HOST/script_%%RAND%%"
  }
  provisioner "remote-exec" {
    when   = destroy
    inline = ["echo got-it-${self.name}", "echo ${self.id} > HOST/destroyed"]
  }
  provisioner "file" {
    when        = destroy
    content     = self.name
    destination = "HOST/file"
  }
}`, port))
	s.apply(0)
	if n := s.transcript().Count(simlog.Filter{RPC: "OpenEphemeralResource"}); n != 0 {
		t.Errorf("creating: got %d opened, want none", n)
	}
	out := s.must("destroy", "-auto-approve", "-no-color")
	s.says(out, "(remote-exec): (output suppressed due to sensitive, ephemeral value in config)")
	s.hides(out, "CANARY", "got-it")
	if got := s.onHost("destroyed") + s.onHost("file"); got != "x-1\nx" {
		t.Errorf("on the host: got %q, want \"x-1\\nx\"", got)
	}
	s.noScripts()
	if w := s.transcript().Windows(); len(w) != 1 || !w[0].Closed() {
		t.Errorf("windows: got %v, want one that is closed", w)
	}
}
