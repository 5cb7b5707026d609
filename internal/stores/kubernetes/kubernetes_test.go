//go:build !mayfly_no_kubernetes

package kubernetes_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/kubeconfig"
	"github.com/mayfly-iac/mayfly/internal/stores/kubernetes"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/kubeserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func access(s *kubeserver.Server) kubeconfig.Access {
	return kubeconfig.Access{Host: s.URL, CA: s.CA(), Token: kubeserver.Token}
}

func open(t *testing.T, opt kubernetes.Options) store.Store {
	t.Helper()
	if opt.Suffix == "" {
		opt.Suffix = "app"
	}
	s, err := kubernetes.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return remote.New(s, remote.Options{Version: "1.0.0"})
}

func manager(t *testing.T, s store.Store) store.Manager {
	t.Helper()
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// secret is the path of the Secret of a workspace.
func secret(workspace string) string {
	return "/api/v1/namespaces/default/secrets/tfstate-" + workspace + "-app"
}

const lockPath = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lock-tfstate-default-app"

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		s := kubeserver.Start(t)
		return storetest.Harness{
			Open: func() store.Store { return open(t, kubernetes.Options{Access: access(s)}) },
			Corrupt: func(workspace string, data []byte) error {
				s.Mu.Lock()
				defer s.Mu.Unlock()
				s.Objects[secret(workspace)] = &kubeserver.Object{
					Kind: "Secret", Metadata: kubeserver.Metadata{Name: "tfstate-" + workspace + "-app", ResourceVersion: "1"}, Data: map[string][]byte{"tfstate": data},
				}
				return nil
			},
			Stored: func(workspace string) ([]byte, error) {
				s.Mu.Lock()
				defer s.Mu.Unlock()
				return s.Objects[secret(workspace)].State()
			},
		}
	})
}

func TestCuts(t *testing.T) {
	s := kubeserver.Start(t)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(t *testing.T, place, address string) store.Store {
			a := access(s)
			a.Host = address
			return open(t, kubernetes.Options{Suffix: place, Access: a})
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return kubeserver.Start(t).URL },
		func(t *testing.T, url string) store.Store {
			return open(t, kubernetes.Options{Access: kubeconfig.Access{Host: url, Insecure: true, Token: kubeserver.Token}})
		})
}

// TestBusy waits where the cluster asks for it, and lists again what has expired.
func TestBusy(t *testing.T) {
	for name, status := range map[string]int{"busy": http.StatusTooManyRequests, "expired": http.StatusGone, "down": http.StatusServiceUnavailable} {
		t.Run(name, func(t *testing.T) {
			s, refused := kubeserver.Start(t), 0
			s.Answer = func(w http.ResponseWriter, r *http.Request) bool {
				if refused > 0 || r.Method != http.MethodGet || r.URL.RawQuery == "" {
					return false
				}
				refused++
				w.Header().Set("Retry-After", "0")
				kubeserver.Refuse(w, status, "TooManyRequests", "please wait", "")
				return true
			}
			if _, err := manager(t, open(t, kubernetes.Options{Access: access(s)})).Read(t.Context()); err != nil || refused != 1 {
				t.Error(err, refused)
			}
		})
	}
}

// TestOthersChange lets others change what is none of our business, such as labels, between a run's reading
// and writing, and finds what is.
func TestOthersChange(t *testing.T) {
	s := kubeserver.Start(t)
	m := manager(t, open(t, kubernetes.Options{Labels: map[string]string{"team": "a"}, Access: access(s)}))
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	o := s.Objects[secret("default")]
	if o.Metadata.Labels["team"] != "a" || o.Metadata.Labels["tfstate"] != "true" || o.Metadata.Labels["tfstateWorkspace"] != "default" {
		t.Errorf("labels: got %v, want team a and those of the workspace default", o.Metadata.Labels)
	}
	s.Answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			s.Answer = nil
			o.Metadata.ResourceVersion, o.Metadata.Labels["theirs"] = "changed", "b"
		}
		return false
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 2)); err != nil || s.Objects[secret("default")].Metadata.Labels["theirs"] != "b" {
		t.Errorf("Write after a label was changed: got %v and %v, want it kept: theirs = b", err, s.Objects[secret("default")].Metadata.Labels)
	}
	if err := manager(t, open(t, kubernetes.Options{Access: access(s)})).Write(t.Context(), storetest.File(t, "l", 3, 3)); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 3, 1)); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("after the state was changed: %v", err)
	}
}

// TestLost stops a run whose Lease was deleted, released or taken by another run.
func TestLost(t *testing.T) {
	for name, lose := range map[string]func(*kubeserver.Server){
		"deleted":  func(s *kubeserver.Server) { delete(s.Objects, lockPath) },
		"released": func(s *kubeserver.Server) { s.Objects[lockPath].Spec = nil },
		"taken":    func(s *kubeserver.Server) { s.Objects[lockPath].Spec["holderIdentity"] = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			s := kubeserver.Start(t)
			m := manager(t, open(t, kubernetes.Options{Access: access(s)}))
			if _, err := m.Lock(t.Context(), storetest.Info("a")); err != nil {
				t.Fatal(err)
			}
			j, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			lose(s)
			if _, err := j.Begin(storetest.Address("a", 1), "create"); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("beginning without the lock: %v", err)
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("writing without the lock: %v", err)
			}
		})
	}
}

// TestLockOfOthers shows a holder that leaves no information, and releases its lock by the ID.
func TestLockOfOthers(t *testing.T) {
	s := kubeserver.Start(t)
	m := manager(t, open(t, kubernetes.Options{Access: access(s)}))
	s.Objects[lockPath] = &kubeserver.Object{Kind: "Lease", Metadata: kubeserver.Metadata{Name: "lock-tfstate-default-app", ResourceVersion: "1"}, Spec: map[string]any{"holderIdentity": "other"}}
	_, err := m.Lock(t.Context(), storetest.Info("a"))
	var held *store.LockError
	if !errors.As(err, &held) || held.Info == nil || held.Info.ID != "other" {
		t.Fatalf("locking: got %v, want it held as other", err)
	}
	if err := store.ForceUnlock(t.Context(), m, "other"); err != nil {
		t.Error(err)
	}
	if _, err := m.Lock(t.Context(), storetest.Info("a")); err != nil {
		t.Error(err)
	}
}

// binaryLease is a Lease in the form in which generated clients of Kubernetes send it.
const binaryLease = "k8s\x00\n\x1f\n\x16coordination.k8s.io/v1\x12\x05Lease\x12\x9f\x01\nU\n\x18lock-tfstate-default-app\x12\x00\x1a\adefault\"\x00*\x03u-12\x0178\x03B\b\b\x80\xe2\xcf\xaa\x06\x10\x00Z\r\n\x03app\x12\x06mayflyb\x06" +
	"\n\x01a\x12\x01br\x01f\x12F\n\x02me\x10\x0f\x1a\v\b\x80\xe2\xcf\xaa\x06\x10\x80\x94\xef:\"\t\b\x81\xe2\xcf\xaa\x06\x10\x88'(\xff\xff\xff\xff\xff\xff\xff\xff\xff\x012\x16OldestEmulationVersion:\x03you\x1a\x00\"\x01x"

// TestBinaryLease is refused the lock that another client has taken in the binary form, which the server
// must have read completely.
func TestBinaryLease(t *testing.T) {
	s := kubeserver.Start(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+strings.TrimSuffix(lockPath, "/lock-tfstate-default-app"), strings.NewReader(binaryLease))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+kubeserver.Token)
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := s.Objects[lockPath]
	if resp.StatusCode != http.StatusCreated || got == nil {
		t.Fatalf("got the answer %s and %v, want status %d and the lock", resp.Status, s.Objects, http.StatusCreated)
	}
	got.Metadata.UID, got.Metadata.ResourceVersion, got.Metadata.CreationTimestamp = "", "", "" // the server's
	want := &kubeserver.Object{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease",
		Metadata: kubeserver.Metadata{Name: "lock-tfstate-default-app", Namespace: "default", Labels: map[string]string{"app": "mayfly"}, Annotations: map[string]string{"a": "b"}},
		Spec: map[string]any{
			"holderIdentity": "me", "leaseDurationSeconds": 15.0, "acquireTime": "2023-11-14T22:13:20.123456Z", "renewTime": "2023-11-14T22:13:21.000005Z",
			"leaseTransitions": -1.0, "strategy": "OldestEmulationVersion", "preferredHolder": "you",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the server has\n%+v\nwant\n%+v", got, want)
	}
	_, err = manager(t, open(t, kubernetes.Options{Access: access(s)})).Lock(t.Context(), storetest.Info("a"))
	var held *store.LockError
	if !errors.As(err, &held) || held.Info == nil || held.Info.ID != "me" {
		t.Errorf("locking: got %v, want it held as me", err)
	}
}

// TestDeleteWorkspace leaves nothing of a workspace behind, as long as no run holds its lock.
func TestDeleteWorkspace(t *testing.T) {
	s := kubeserver.Start(t)
	all := open(t, kubernetes.Options{Access: access(s)})
	if err := all.CreateWorkspace(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	m, err := all.Manager("w")
	if err != nil {
		t.Fatal(err)
	}
	id, err := m.Lock(t.Context(), storetest.Info("a"))
	if err = errors.Join(err, m.Unlock(t.Context(), id), all.DeleteWorkspace(t.Context(), "w", false)); err != nil || len(s.Objects) > 0 {
		t.Error(err, s.Objects)
	}
	if _, err := all.Manager("Up_per"); err == nil || !strings.Contains(err.Error(), "lowercase") {
		t.Errorf("a name that Kubernetes does not have: %v", err)
	}
}

// TestFiles reads kubeconfig files, and lets arguments win.
func TestFiles(t *testing.T) {
	s := kubeserver.Start(t)
	write := func(name, server, token string) string {
		text, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "Config", "current-context": "x",
			"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": server, "certificate-authority-data": []byte(s.CA())}}},
			"users": []any{
				map[string]any{"name": "u", "user": map[string]any{"token": token}},
				map[string]any{"name": "program", "user": map[string]any{"exec": map[string]any{"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "mayfly-has-no-such-program"}}},
			},
			"contexts": []any{
				map[string]any{"name": "x", "context": map[string]any{"cluster": "c", "user": "u"}},
				map[string]any{"name": "y", "context": map[string]any{"cluster": "c", "user": "program"}},
			},
		})
		path := filepath.Join(t.TempDir(), name)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, nowhere := write("good", s.URL, kubeserver.Token), write("nowhere", "https://127.0.0.1:1", "hunter3")
	credential := fmt.Sprintf(`{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": %q}}`, kubeserver.Token)
	printing := &kubeconfig.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "sh", Args: []string{"-c", `echo "$CREDENTIAL"`}, Env: map[string]string{"CREDENTIAL": credential}}
	for name, test := range map[string]struct {
		access kubeconfig.Access
		want   string // in the error; "" for none
	}{
		"file":            {kubeconfig.Access{Files: []string{good}}, ""},
		"one of several":  {kubeconfig.Access{Files: []string{"/nope", good}}, ""},
		"host and token":  {kubeconfig.Access{Files: []string{nowhere}, Host: s.URL, Token: kubeserver.Token}, ""},
		"context":         {kubeconfig.Access{Files: []string{good}, Context: "y"}, `"exec"`},
		"user":            {kubeconfig.Access{Files: []string{good}, ContextUser: "program"}, `"exec"`},
		"exec":            {kubeconfig.Access{Host: s.URL, CA: s.CA(), Exec: printing}, ""},
		"no such context": {kubeconfig.Access{Files: []string{good}, Context: "z"}, `"z"`},
		"no such file":    {kubeconfig.Access{Files: []string{"/nope"}}, `"config_path" names no file`},
		"no file":         {kubeconfig.Access{Files: []string{t.TempDir()}}, `"config_path" cannot be read`},
		"no cluster":      {kubeconfig.Access{}, "KUBE_CONFIG_PATH"},
		"not in a pod":    {kubeconfig.Access{InCluster: true}, `"in_cluster_config"`},
		"certificate":     {kubeconfig.Access{Host: s.URL, CA: "hunter4", Token: kubeserver.Token}, "certificate"},
		"unknown signer":  {kubeconfig.Access{Host: s.URL, Token: kubeserver.Token}, `"cluster_ca_certificate"`},
		"wrong token":     {kubeconfig.Access{Host: s.URL, CA: s.CA(), Token: "hunter3"}, `401 Unauthorized: Unauthorized: Unauthorized. Check the arguments "token"`},
		"key and no pair": {kubeconfig.Access{Host: s.URL, CA: s.CA(), ClientCertificate: "hunter5", ClientKey: "hunter6"}, "not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			service, err := kubernetes.New(kubernetes.Options{Suffix: "app", Access: test.access})
			if err == nil {
				_, err = manager(t, remote.New(service, remote.Options{})).Read(t.Context())
			}
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter")) {
				t.Errorf("error: got %v, want %q (none if empty), without the secret", err, test.want)
			}
		})
	}
}

// TestRefusals says which argument is wrong.
func TestRefusals(t *testing.T) {
	html := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			fmt.Fprint(w, "<html>hunter7</html>")
			return true
		}
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"rights": {func(w http.ResponseWriter, _ *http.Request) bool {
			kubeserver.Refuse(w, http.StatusForbidden, "Forbidden", `User "x" cannot get resource "secrets"`, "tfstate-default-app")
			return true
		}, "the rights get, list, create"},
		"proxy":    {html(http.StatusOK), "sign-in page"},
		"address":  {html(http.StatusNotFound), `Check the argument "host"`},
		"redirect": {html(http.StatusFound), `Check the argument "host"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := kubeserver.Start(t)
			s.Answer = test.answer
			_, err := manager(t, open(t, kubernetes.Options{Access: access(s)})).Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error is %v", err)
			}
		})
	}
	s := kubeserver.Start(t)
	s.Namespaces = []string{"default"}
	err := manager(t, open(t, kubernetes.Options{Namespace: "nope", Access: access(s)})).Write(t.Context(), storetest.File(t, "l", 1, 1))
	if err == nil || !strings.Contains(err.Error(), `Create the namespace, or check the argument "namespace"`) {
		t.Errorf("without the namespace: %v", err)
	}
	for _, opt := range []kubernetes.Options{{Suffix: "a/b"}, {Suffix: "a", Namespace: "a/b"}} {
		if _, err := kubernetes.New(opt); err == nil || !strings.Contains(err.Error(), "argument") {
			t.Errorf("%v: %v", opt, err)
		}
	}
}

// TestTooLarge refuses a state that a Secret has no room for, and explains one that another program has
// split.
func TestTooLarge(t *testing.T) {
	s := kubeserver.Start(t)
	m := manager(t, open(t, kubernetes.Options{Access: access(s)}))
	noise := make([]byte, 2<<20)
	for i := range noise {
		noise[i] = 'A' + byte(rand.N(26))
	}
	f := storetest.File(t, "l", 1, 1)
	f.State.SetObject(storetest.Address("b", 0), storetest.Object(t, string(noise)), storetest.Provider)
	if err := m.Write(t.Context(), f); err == nil || !strings.Contains(err.Error(), "has room for 1048576") {
		t.Errorf("writing: %v", err)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	o := s.Objects[secret("default")]
	var first bytes.Buffer
	w, _ := gzip.NewWriterLevel(&first, gzip.NoCompression) // a valid level
	_, _ = w.Write(noise)
	o.Data["tfstate"] = first.Bytes()[:1<<20]
	if _, err := m.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "tfstate-default-app-part-1") {
		t.Errorf("reading: %v", err)
	}
}
