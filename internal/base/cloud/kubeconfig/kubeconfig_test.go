package kubeconfig_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/kubeconfig"
)

// cluster is a server that notes the last request and refuses the credentials "old".
type cluster struct {
	*httptest.Server
	ca   string
	last *http.Request
}

func start(t *testing.T) *cluster {
	c := &cluster{}
	c.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.last = r
		if strings.HasSuffix(r.Header.Get("Authorization"), " old") {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(c.Close)
	c.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw}))
	return c
}

// ask sends a request and returns its status.
func ask(t *testing.T, s *kubeconfig.Server) (int, error) {
	t.Helper()
	resp, err := (&http.Client{Transport: s.Transport}).Get(s.URL.String())
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// write writes files and returns the path of the first.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0])
}

const kubeconfigFile = `
apiVersion: v1
kind: Config
current-context: x
clusters: [{name: c, cluster: {server: "%s", certificate-authority: ca.pem}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {%s}}]
`

// TestUsers authenticates in each way that a file can ask for.
func TestUsers(t *testing.T) {
	c := start(t)
	for name, test := range map[string]struct{ user, header, want string }{
		"token":      {`token: abc, tokenFile: other`, "Authorization", "Bearer abc"},
		"token file": {`tokenFile: token`, "Authorization", "Bearer from-file"},
		"password":   {`username: u, password: p`, "Authorization", "Basic dTpw"},
		"as user":    {`token: abc, as: jane, as-groups: [a, b]`, "Impersonate-User", "jane"},
		"as groups":  {`token: abc, as: jane, as-groups: [a, b]`, "Impersonate-Group", "a,b"},
		"as extra":   {`token: abc, as: jane, as-user-extra: {"x/y": [z]}`, "Impersonate-Extra-X%2fy", "z"},
		"program":    {`exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./print, env: [{name: TOKEN, value: printed}]}`, "Authorization", "Bearer printed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "config", fmt.Sprintf(kubeconfigFile, c.URL, test.user), "ca.pem", c.ca, "token", "from-file\n",
				"print", "#!/bin/sh\n"+`echo '{"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": {"token": "'$TOKEN'"}}'`)
			if err := os.Chmod(filepath.Join(filepath.Dir(path), "print"), 0o700); err != nil {
				t.Fatal(err)
			}
			s, err := kubeconfig.Access{Files: []string{path}}.Find()
			if err == nil {
				_, err = ask(t, s)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.last.Header.Values(test.header), ","); got != test.want {
				t.Errorf("%s: got %q, want %q", test.header, got, test.want)
			}
		})
	}
}

// TestProgramRunsAgain keeps what a program has printed until its end or until the server refuses it. The
// program is given a description of the cluster.
func TestProgramRunsAgain(t *testing.T) {
	c := start(t)
	for name, test := range map[string]struct {
		status string
		runs   int
		after  int // status of the second request
	}{
		"kept":    {`"token": "new"`, 1, http.StatusOK},
		"ended":   {`"token": "new", "expirationTimestamp": "2001-01-01T00:00:00Z"`, 2, http.StatusOK},
		"refused": {`"token": "old"`, 2, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			user := `exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, provideClusterInfo: true, command: sh, args: ["-c", "echo $KUBERNETES_EXEC_INFO >>$LOG; echo $PRINTED"]}`
			path := write(t, "config", fmt.Sprintf(kubeconfigFile, c.URL, user), "ca.pem", c.ca)
			log := filepath.Join(t.TempDir(), "log")
			t.Setenv("LOG", log)
			t.Setenv("PRINTED", `{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {`+test.status+`}}`)
			s, err := kubeconfig.Access{Files: []string{path}}.Find()
			if err != nil {
				t.Fatal(err)
			}
			_, first := ask(t, s)
			status, second := ask(t, s)
			if first != nil || second != nil || status != test.after {
				t.Error(first, second, status)
			}
			runs, err := os.ReadFile(log)
			if err != nil || strings.Count(string(runs), `"server":"`+c.URL+`"`) != test.runs {
				t.Errorf("runs of the program: got %s, %v, want %d with the server", runs, err, test.runs)
			}
		})
	}
}

// TestMistakes shows what is wrong in a file, without secrets.
func TestMistakes(t *testing.T) {
	c := start(t)
	for user, want := range map[string]string{
		`token: abc, username: hunter2`:                              "only one can be sent",
		`client-certificate-data: aHVudGVyMg==`:                      "without its key",
		`as-groups: [a]`:                                             "as another user",
		`tokenFile: nope`:                                            "no such file",
		`auth-provider: {name: gcp}`:                                 `auth-provider "gcp"`,
		`token: [hunter2]`:                                           "wrong type",
		`exec: {command: x, apiVersion: hunter}`:                     "apiVersion",
		`client-key-data: hunter2, client-certificate-data: hunter2`: "base64",
		`exec: {command: echo, args: [hunter2], interactiveMode: Never, apiVersion: client.authentication.k8s.io/v1}`: "does not print",
	} {
		path := write(t, "config", fmt.Sprintf(kubeconfigFile, c.URL, user), "ca.pem", c.ca)
		s, err := kubeconfig.Access{Files: []string{path}}.Find()
		if err == nil {
			_, err = ask(t, s)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", user, err)
		}
	}
}

// TestCredentialsNeedTLS sends nothing to a server that may be anyone.
func TestCredentialsNeedTLS(t *testing.T) {
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Header.Get("Authorization") }))
	defer server.Close()
	s, err := kubeconfig.Access{Host: server.URL, Token: "abc"}.Find()
	if err == nil {
		_, err = ask(t, s)
	}
	if err != nil || sent != "" {
		t.Error(err, sent)
	}
}
