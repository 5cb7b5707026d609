//go:build unix

package ssh_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	gssh "github.com/gliderlabs/ssh"
	xssh "golang.org/x/crypto/ssh"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

// works checks that a connection leads to a shell.
func works(t *testing.T, c *ssh.Connection) {
	t.Helper()
	client := dial(t, c)
	if out, err := run(t, client, "echo hello"); err != nil || out != "hello" {
		t.Errorf("echo hello: got %q, %v, want \"hello\"", out, err)
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	s := serve(t, password("p4ss word"))
	c := &ssh.Connection{Target: s.host()}
	c.Target.Password = ssh.NewSecret("p4ss word")
	works(t, c)
}

// The password answers the questions whose answers are not shown, and no others.
func TestKeyboardInteractive(t *testing.T) {
	t.Parallel()
	var got []string
	s := serve(t, func(s *gssh.Server) {
		s.KeyboardInteractiveHandler = func(_ gssh.Context, ask xssh.KeyboardInteractiveChallenge) bool {
			answers, err := ask("", "", []string{"Name: ", "Password: "}, []bool{true, false})
			got = answers
			return err == nil && len(answers) == 2 && answers[1] == "secret"
		}
	})
	c := &ssh.Connection{Target: s.host()}
	c.Target.Password = ssh.NewSecret("secret")
	works(t, c)
	if got[0] != "" {
		t.Errorf("shown answer: got %q, want none", got[0])
	}
}

func TestPrivateKey(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"rsa", "ecdsa", "ed25519"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			k := newKey(t, kind)
			s := serve(t, accepts(k), password("unused"))
			c := &ssh.Connection{Target: s.host()}
			c.Target.PrivateKey = ssh.NewSecret(k.pem)
			works(t, c)
		})
	}
}

// acceptsSignedBy lets in users with a certificate of the authority.
func acceptsSignedBy(ca key) func(*gssh.Server) {
	return func(s *gssh.Server) {
		s.PublicKeyHandler = func(ctx gssh.Context, got gssh.PublicKey) bool {
			cert, ok := got.(*xssh.Certificate)
			return ok && gssh.KeysEqual(cert.SignatureKey, ca.signer.PublicKey()) && cert.ValidPrincipals[0] == ctx.User()
		}
	}
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	k, ca := newKey(t, "rsa"), newKey(t, "ecdsa")
	s := serve(t, acceptsSignedBy(ca))
	c := &ssh.Connection{Target: s.host()}
	c.Target.PrivateKey = ssh.NewSecret(k.pem)
	c.Target.Certificate = ssh.NewSecret(string(xssh.MarshalAuthorizedKey(certify(t, k, ca, xssh.UserCert, "somebody"))))
	works(t, c)
}

func TestAgent(t *testing.T) {
	t.Parallel()
	k := newKey(t, "ed25519")
	socket := startAgent(t, newKey(t, "rsa"), k)
	for name, c := range map[string]ssh.Connection{
		"by default": {AgentSocket: socket},
		"asked for":  {AgentSocket: socket, Agent: ssh.AgentAlways},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, accepts(k))
			c.Target = s.host()
			works(t, &c)
			if s.forwards.Load() != 1 {
				t.Error("the agent is not forwarded to the host")
			}
		})
	}
	t.Run("switched off", func(t *testing.T) {
		s := serve(t, accepts(k))
		_, err := ssh.Dial(t.Context(), &ssh.Connection{Target: s.host(), AgentSocket: socket, Agent: ssh.AgentNever, Timeout: 2 * time.Second}, nil)
		if err == nil || !strings.Contains(err.Error(), "without a key or password") {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("not there", func(t *testing.T) {
		_, err := ssh.Dial(t.Context(), &ssh.Connection{Target: ssh.Host{Address: "127.0.0.1"}, Agent: ssh.AgentAlways}, nil)
		if err == nil || !strings.Contains(err.Error(), "SSH_AUTH_SOCK") {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("left behind", func(t *testing.T) {
		s := serve(t, password("p"))
		c := &ssh.Connection{Target: s.host(), AgentSocket: socket + ".gone"}
		c.Target.Password = ssh.NewSecret("p")
		works(t, c)
	})
}

// A server lets one try a few keys only, so the preferred one has to come first.
func TestAgentIdentity(t *testing.T) {
	t.Parallel()
	keys := []key{newKey(t, "ed25519"), newKey(t, "ed25519"), newKey(t, "ed25519")}
	socket := startAgent(t, keys...)
	for name, identity := range map[string]string{
		"public key":  keys[2].line,
		"fingerprint": xssh.FingerprintSHA256(keys[2].signer.PublicKey()),
		"comment":     "comment of " + keys[2].line,
		"file":        write(t, "id.pub", keys[2].line),
		"private key": strings.TrimSuffix(write(t, "id.pub", keys[2].line), ".pub"),
	} {
		t.Run(name, func(t *testing.T) {
			var offered []string
			s := serve(t, func(s *gssh.Server) {
				s.PublicKeyHandler = func(_ gssh.Context, got gssh.PublicKey) bool {
					offered = append(offered, string(xssh.MarshalAuthorizedKey(got)))
					return true
				}
			})
			works(t, &ssh.Connection{Target: s.host(), AgentSocket: socket, AgentIdentity: identity})
			if offered[0] != keys[2].line {
				t.Error("another key was offered first")
			}
		})
	}
}

// The keys of an agent that is there by chance do not use up the attempts that a server allows.
func TestPasswordBesideAgent(t *testing.T) {
	t.Parallel()
	socket := startAgent(t, newKey(t, "ed25519"), newKey(t, "ed25519"), newKey(t, "ed25519"))
	s := serve(t, password("p"), accepts(), func(s *gssh.Server) {
		s.ServerConfigCallback = func(gssh.Context) *xssh.ServerConfig { return &xssh.ServerConfig{MaxAuthTries: 2} }
	})
	c := &ssh.Connection{Target: s.host(), AgentSocket: socket}
	c.Target.Password = ssh.NewSecret("p")
	works(t, c)
}

func TestHostKey(t *testing.T) {
	t.Parallel()
	rsa, ed, ca, k := newKey(t, "rsa"), newKey(t, "ed25519"), newKey(t, "ed25519"), newKey(t, "ecdsa")
	plain := serve(t, password("p"), func(s *gssh.Server) {
		s.AddHostKey(rsa.signer)
		s.AddHostKey(ed.signer)
	})
	certified := func(principal string) *server {
		return serve(t, password("p"), func(s *gssh.Server) {
			signer, err := xssh.NewCertSigner(certify(t, k, ca, xssh.HostCert, principal), k.signer)
			if err != nil {
				t.Fatal(err)
			}
			s.AddHostKey(signer)
		})
	}
	own := certified("127.0.0.1")
	for _, c := range []struct {
		name   string
		server *server
		key    key
		want   string
	}{
		{"first kind", plain, rsa, ""},
		{"second kind", plain, ed, ""},
		{"authority", own, ca, ""},
		{"key of a certificate", own, k, ""},
		{"another key", plain, newKey(t, "ed25519"), "not the one that the connection asks for"},
		{"another kind", plain, newKey(t, "ecdsa"), "not have a key of the kind"},
		{"another authority", own, newKey(t, "ed25519"), "not the one that the connection asks for"},
		{"certificate of another host", certified("example.com"), ca, "certificate is not valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := c.server.logins.Load()
			conn := &ssh.Connection{Target: c.server.host()}
			conn.Target.Password, conn.Target.HostKey = ssh.NewSecret("p"), ssh.NewSecret(c.key.line)
			client, err := ssh.Dial(t.Context(), conn, nil)
			if err == nil {
				client.Close()
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(ssh.Public(err), "could not be verified")):
				t.Errorf("error = %v, want %q", err, c.want)
			case c.server.logins.Load() != before+1:
				t.Errorf("%d attempts: a host that is not believed must not be tried again", c.server.logins.Load()-before)
			}
		})
	}
}

// The error of a refused login tells what was tried, and nothing of it.
func TestRefusedLogin(t *testing.T) {
	t.Parallel()
	s := serve(t, accepts(newKey(t, "ed25519")), password("right"))
	k := newKey(t, "ed25519")
	c := &ssh.Connection{Target: s.host(), Timeout: 2 * time.Second}
	c.Target.Password, c.Target.PrivateKey = ssh.NewSecret("w4ong-password"), ssh.NewSecret(k.pem)
	var told []string
	_, err := ssh.Dial(t.Context(), c, func(reason string) { told = append(told, reason) })
	if err == nil {
		t.Fatal("the login was accepted")
	}
	if s.logins.Load() < 2 || len(told) < 1 {
		t.Errorf("%d attempts, %q told: a host may let its users in a moment later", s.logins.Load(), told)
	}
	for _, want := range []string{"in time", "somebody at 127.0.0.1", "the private key, the password"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %s", want, err)
		}
	}
	public := ssh.Public(err) + strings.Join(told, "")
	for _, hidden := range []string{"w4ong", "somebody", "127.0.0.1", "PRIVATE"} {
		if strings.Contains(public, hidden) {
			t.Errorf("%q in: %s", hidden, public)
		}
	}
	if strings.Contains(err.Error(), "w4ong") {
		t.Errorf("the password is in: %s", err)
	}
	var own *ssh.Error
	if !errors.As(err, &own) {
		t.Errorf("%T", err)
	}
}
