//go:build unix

package ssh

import (
	"fmt"
	"strings"
	"testing"
)

// TestTunnel works on a host through an ephemeral tunnel of the provider keep.
func TestTunnel(t *testing.T) {
	t.Parallel()
	outer, inner := newKey(t), newKey(t)
	bastion, target := start(t, outer, nil), start(t, inner, nil)
	s := newSite(t, "")
	s.write("versions.tf", "terraform {\n  required_providers {\n    keep = { source = \"mayfly.dev/mayfly/keep\" }\n  }\n}\n")
	s.write("given_outer", outer.pem)
	s.write("given_inner", inner.pem)
	s.write("given_host", bastion.hostKey)
	config := func(hostKey string) {
		s.config(fmt.Sprintf(`ephemeral "keep_file" "outer" {
  path = "given_outer"
}

ephemeral "keep_tunnel" "t" {
  tunnel_host = "127.0.0.1"
  tunnel_port = %d
  user        = %q
  private_key = ephemeral.keep_file.outer.content
  host_key    = file(%q)
  remote_host = "127.0.0.1"
  remote_port = %d
}

resource "terraform_data" "x" {
  connection {
    host        = ephemeral.keep_tunnel.t.local_host
    port        = ephemeral.keep_tunnel.t.local_port
    user        = %q
    private_key = file("given_inner")
    script_path = "HOST/script_%%RAND%%"
  }
  %s
}
`, bastion.port, me(t), hostKey, target.port, me(t), here))
	}
	s.write("given_other", newKey(t).line)
	config("given_other")
	s.says(s.apply(1), "Tunnel not opened", "the host could not be verified")
	config("given_host")
	out := s.apply(0)
	s.says(out, "ephemeral.keep_tunnel.t: Opening complete", "ephemeral.keep_tunnel.t: Closing complete")
	s.hides(out, "PRIVATE KEY", strings.Split(outer.pem, "\n")[1])
	if got := s.onHost("here"); got != "here\n" {
		t.Errorf("on the host: got %q, want \"here\\n\"", got)
	}
	if n := strings.Count(target.log.String(), "Accepted publickey"); n != 1 {
		t.Errorf("got %d logins at the target, want 1:\n%s", n, target.log)
	}
	if n := strings.Count(bastion.log.String(), "Accepted publickey"); n != 1 {
		t.Errorf("got %d logins at the bastion, want 1:\n%s", n, bastion.log)
	}
}
