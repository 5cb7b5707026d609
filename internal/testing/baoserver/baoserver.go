// Package baoserver starts, for tests, a real OpenBao in its development mode: it keeps everything in memory,
// listens on this machine only, and has a transit engine with one key.
//
// It may import the testing package. It must not know any other package of this module.
package baoserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The token and the key of a server, and the variable that names the program if it is not in PATH.
const (
	Token    = "root-of-the-test" // may do everything
	Key      = "states"           // of the transit engine
	Variable = "MAYFLY_BAO"
)

// Server is a running server.
type Server struct {
	URL     string
	Version string // as the server reports it

	t testing.TB
}

// Program returns the path of OpenBao's program; "" if there is none.
func Program() string {
	if path := os.Getenv(Variable); path != "" {
		return path
	}
	path, err := exec.LookPath("bao")
	if err != nil {
		return ""
	}
	return path
}

// Start starts a server that ends with the test. It skips the test if the program is not installed, or cannot
// serve here.
func Start(t testing.TB) *Server {
	t.Helper()
	if Program() == "" {
		t.Skipf("OpenBao is not installed: bao is not in PATH, and %s does not name it", Variable)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	cmd := exec.Command(Program(), "server", "-dev", "-dev-no-store-token", "-dev-root-token-id="+Token, "-dev-listen-address="+address)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH")} // nothing about other servers, and no proxy
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	s := &Server{URL: "http://" + address, t: t}
	for range 300 {
		var health struct {
			Initialized, Sealed bool
			Version             string
		}
		if s.request(http.MethodGet, "sys/health", nil, &health) == nil && health.Initialized && !health.Sealed {
			s.Version = "OpenBao " + health.Version
			break
		}
		time.Sleep(100 * time.Millisecond) // another process cannot say when it is ready
	}
	if s.Version == "" {
		t.Skipf("OpenBao does not serve here:\n%s", log.String())
	}
	s.Must(http.MethodPost, "sys/mounts/transit", map[string]any{"type": "transit"}, nil)
	s.Must(http.MethodPost, "transit/keys/"+Key, map[string]any{}, nil)
	return s
}

// Must sends a request of the server's API as the one who may do everything. in and out, in JSON, may be nil.
func (s *Server) Must(method, path string, in, out any) {
	s.t.Helper()
	if err := s.request(method, path, in, out); err != nil {
		s.t.Fatalf("OpenBao, %s %s: %v", method, path, err)
	}
}

func (s *Server) request(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, s.URL+"/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Vault-Token", Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s (%w)", resp.Status, answer, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// Rotate makes a new version of the key. The earlier ones still decrypt.
func (s *Server) Rotate() {
	s.Must(http.MethodPost, "transit/keys/"+Key+"/rotate", map[string]any{}, nil)
}

// Forget makes all versions of the key but the newest unusable.
func (s *Server) Forget() {
	var key struct {
		Data struct {
			Latest int `json:"latest_version"`
		}
	}
	s.Must(http.MethodGet, "transit/keys/"+Key, nil, &key)
	s.Must(http.MethodPost, "transit/keys/"+Key+"/config", map[string]any{"min_decryption_version": key.Data.Latest}, nil)
}

// Seal makes the server refuse everything until it ends.
func (s *Server) Seal() { s.Must(http.MethodPut, "sys/seal", nil, nil) }

// NewToken returns a token with the rights of a policy, in the language of OpenBao.
func (s *Server) NewToken(policy string) string {
	s.Must(http.MethodPut, "sys/policies/acl/test", map[string]any{"policy": policy}, nil)
	var out struct {
		Auth struct {
			Token string `json:"client_token"`
		}
	}
	s.Must(http.MethodPost, "auth/token/create", map[string]any{"policies": []string{"test"}, "no_default_policy": true}, &out)
	return out.Auth.Token
}

// Revoke ends a token.
func (s *Server) Revoke(token string) {
	s.Must(http.MethodPost, "auth/token/revoke", map[string]any{"token": token}, nil)
}
