//go:build !mayfly_no_kubernetes

package kubernetes_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/kubeconfig"
	"github.com/mayfly-iac/mayfly/internal/stores/kubernetes"
	"github.com/mayfly-iac/mayfly/internal/testing/kubeserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// program starts the API server of a cluster that has nothing else than its database, and returns its
// address.
func program(t *testing.T) string {
	t.Helper()
	peer := "http://127.0.0.1:" + storetest.FreePort(t)
	etcd := storetest.StartProgram(t, "etcd", "Debian's package etcd-server", func(host, port string) []string {
		client := "http://" + net.JoinHostPort(host, port)
		return []string{
			"--data-dir", "data", "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
			"--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
		}
	})
	dir := t.TempDir()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	account, tokens := filepath.Join(dir, "account.key"), filepath.Join(dir, "tokens.csv")
	for name, data := range map[string][]byte{
		account: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		tokens:  []byte(kubeserver.Token + ",admin,1,system:masters\n"),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := storetest.StartProgram(t, "kube-apiserver", "see kubernetes.io/releases/download", func(host, port string) []string {
		return []string{
			"--etcd-servers", "http://" + etcd, "--cert-dir", dir, "--bind-address", host, "--secure-port", port, "--token-auth-file", tokens,
			"--service-account-issuer", "https://localhost", "--service-account-key-file", account, "--service-account-signing-key-file", account,
			"--service-cluster-ip-range", "10.0.0.0/24", "--authorization-mode", "RBAC",
		}
	})
	var answer []byte
	for range 600 { // it serves before it is ready, and makes the namespace afterwards
		data, status, err := request(t, address, http.MethodGet, "/api/v1/namespaces/default", nil)
		if err == nil && status == http.StatusOK {
			return "https://" + address
		}
		if answer = data; err != nil {
			answer = []byte(err.Error())
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the cluster has no namespace: %s", answer)
	return ""
}

// anyone is a client that does not verify the certificate, which the server makes itself.
var anyone = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // of a test, on this machine

func request(t *testing.T, address, method, path string, body []byte) (data []byte, status int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+address+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+kubeserver.Token)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := anyone.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(resp.Body)
	return data, resp.StatusCode, err
}

// TestProgram runs the suites against the API server of Kubernetes itself.
func TestProgram(t *testing.T) {
	url := program(t)
	address := url[len("https://"):]
	at := func(url string) kubeconfig.Access {
		return kubeconfig.Access{Host: url, Insecure: true, Token: kubeserver.Token}
	}
	const secrets = "/api/v1/namespaces/default/secrets"
	var n atomic.Int32
	storetest.Run(t, func(*testing.T) storetest.Harness {
		suffix := fmt.Sprint("app", n.Add(1))
		return storetest.Harness{
			Open: func() store.Store { return open(t, kubernetes.Options{Suffix: suffix, Access: at(url)}) },
			Corrupt: func(workspace string, state []byte) error {
				name := "tfstate-" + workspace + "-" + suffix
				body, err := json.Marshal(map[string]any{
					"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "data": map[string][]byte{"tfstate": state},
				})
				if err != nil {
					return err
				}
				_, status, err := request(t, address, http.MethodPatch, secrets+"/"+name, body)
				if status == http.StatusNotFound {
					_, status, err = request(t, address, http.MethodPost, secrets, body)
				}
				if err == nil && status >= http.StatusBadRequest {
					err = fmt.Errorf("the cluster answers %d", status)
				}
				return err
			},
			Stored: func(workspace string) ([]byte, error) {
				answer, status, err := request(t, address, http.MethodGet, secrets+"/tfstate-"+workspace+"-"+suffix, nil)
				if err != nil || status == http.StatusNotFound {
					return nil, err
				}
				var o kubeserver.Object
				if err := json.Unmarshal(answer, &o); err != nil {
					return nil, err
				}
				return o.State()
			},
		}
	})
	t.Run("cuts", func(t *testing.T) {
		storetest.RunCuts(t, storetest.Remote{
			Server: func(*testing.T, string) string { return address },
			Open: func(t *testing.T, place, address string) store.Store {
				return open(t, kubernetes.Options{Suffix: place, Access: at("https://" + address)})
			},
		})
	})
}

// TestProgramRaces lets two processes race for a state in Kubernetes itself.
func TestProgramRaces(t *testing.T) {
	storetest.RunRaces(t, program, func(t *testing.T, url string) store.Store {
		return open(t, kubernetes.Options{Access: kubeconfig.Access{Host: url, Insecure: true, Token: kubeserver.Token}})
	})
}
