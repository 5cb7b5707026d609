//go:build unix

package ssh

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// connection is a connection block for the server with the given further arguments.
func connection(t *testing.T, s *sshd, more string) string {
	t.Helper()
	return fmt.Sprintf("connection {\n  host = \"127.0.0.1\"\n  port = %d\n  user = %q\n  script_path = \"HOST/script_%%RAND%%\"\n  %s\n}\n", s.port, me(t), more)
}

const here = `provisioner "remote-exec" {
  inline = ["echo \"I am $(id -un)\"", "echo here > HOST/here"]
}
`

func TestPrivateKey(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	d := start(t, k, nil)
	s := newSite(t, `resource "terraform_data" "x" {
`+connection(t, d, `private_key = file("given_key")`+"\n"+`host_key = file("given_host")`)+here+`}`)
	s.write("given_key", k.pem)
	s.write("given_host", d.hostKey)
	out := s.apply(0)
	s.says(out, "terraform_data.x (remote-exec): Connecting to remote host via SSH...", "Host: 127.0.0.1", "User: "+me(t),
		"Private key: true", "Password: false", "Checking Host Key: true", "(remote-exec): Connected!", "(remote-exec): I am "+me(t))
	if got := s.onHost("here"); got != "here\n" {
		t.Errorf("on the host: got %q, want \"here\\n\"", got)
	}
	s.hides(out, "PRIVATE KEY", strings.Split(k.pem, "\n")[1])
	s.noScripts()
}

func TestAgent(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	d := start(t, k, nil)
	s := newSite(t, `resource "terraform_data" "x" {
`+connection(t, d, "")+`provisioner "remote-exec" {
  inline = ["test -S \"$SSH_AUTH_SOCK\" && echo the agent came along"]
}
}`)
	s.env = []string{"SSH_AUTH_SOCK=" + serveAgent(t, k)}
	s.says(s.apply(0), "SSH Agent: true", "(remote-exec): the agent came along")
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	k, authority := newKey(t), newKey(t)
	d := start(t, nil, authority)
	s := newSite(t, `resource "terraform_data" "x" {
`+connection(t, d, `private_key = file("given_key")`+"\n"+`certificate = file("given_cert")`)+here+`}`)
	s.write("given_key", k.pem)
	s.write("given_cert", k.certificate(t, authority, me(t)))
	s.says(s.apply(0), "Certificate: true", "I am "+me(t))

	// The key alone does not do: it was the certificate.
	s.config(`resource "terraform_data" "y" {
` + connection(t, d, `private_key = file("given_key")`+"\n"+`timeout = "1s"`) + here + `}`)
	s.says(s.apply(1), "did not accept the login, which was tried with the private key")
}

func TestBastion(t *testing.T) {
	t.Parallel()
	outer, inner := newKey(t), newKey(t)
	bastion, target := start(t, outer, nil), start(t, inner, nil)
	s := newSite(t, `resource "terraform_data" "x" {
`+connection(t, target, fmt.Sprintf(`private_key = file("given_inner")
  bastion_host = "127.0.0.1"
  bastion_port = %d
  bastion_private_key = file("given_outer")
  bastion_host_key = file("given_host")`, bastion.port))+here+`
provisioner "file" {
  content     = "text"
  destination = "HOST/file"
}
}`)
	s.write("given_inner", inner.pem)
	s.write("given_outer", outer.pem)
	s.write("given_host", bastion.hostKey)
	s.says(s.apply(0), "Using configured bastion host...", "I am "+me(t))
	if got := s.onHost("here") + s.onHost("file"); got != "here\ntext" {
		t.Errorf("on the host: got %q, want \"here\\ntext\"", got)
	}
	if n := strings.Count(bastion.log.String(), "Accepted publickey"); n != 2 {
		t.Errorf("got %d logins at the bastion, want 2:\n%s", n, bastion.log)
	}
}

// A host with another key gets nothing, at once.
func TestWrongHostKey(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	d := start(t, k, nil)
	s := newSite(t, `resource "terraform_data" "x" {
`+connection(t, d, `private_key = file("given_key")`+"\n"+`host_key = file("given_host")`)+here+`}`)
	s.write("given_key", k.pem)
	s.write("given_host", newKey(t).line)
	begin := time.Now()
	s.says(s.apply(1), "remote-exec provisioner error", "the host could not be verified")
	if time.Since(begin) > time.Minute {
		t.Error("it was tried again")
	}
	if _, err := os.Stat(filepath.Join(s.host, "here")); err == nil {
		t.Error("the script was run")
	}
	s.says(s.must("plan", "-no-color"), "terraform_data.x is tainted")
}

// No server: the attempt ends at its timeout, and is reported while it lasts.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	s := newSite(t, `resource "terraform_data" "x" {
connection {
  host    = "127.0.0.1"
  port    = 1
  timeout = "1500ms"
}
provisioner "file" {
  content     = "text"
  destination = "x"
}
}`)
	s.says(s.apply(1), "terraform_data.x (file): No connection yet, trying again: the host could not be reached: the connection was refused",
		"Error connecting: no connection was made in time (1.5s): the host could not be reached: dial tcp 127.0.0.1:1")
}
