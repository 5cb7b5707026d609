package install

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

// many publishes providers of one version and returns what needs them.
func (f *netFixture) many(n int) string {
	src := ""
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		f.server.Add(registrytest.Package{
			Name: "acme/" + name, Version: "1.0.0", Platform: "linux_amd64",
			Archive: registrytest.Zip(map[string]string{"terraform-provider-" + name + "_v1.0.0": name}),
		})
		src += fmt.Sprintf("    %s = {\n      source = \"example.com/acme/%s\"\n    }\n", name, name)
	}
	return "terraform {\n  required_providers {\n" + src + "  }\n}\n"
}

func TestSeveralAtOnce(t *testing.T) {
	f := newNetFixture(t)
	const n = packagesAtOnce + 3
	reqs := f.reqs(f.many(n))
	var mu sync.Mutex
	under, most := 0, 0
	full := make(chan struct{})
	f.server.Hook = func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, ".zip") {
			return false
		}
		mu.Lock()
		under++
		most = max(most, under)
		if under == packagesAtOnce {
			close(full)
		}
		mu.Unlock()
		<-full // as many as may be are under way
		mu.Lock()
		under = -n // the barrier is for the first ones
		mu.Unlock()
		return false
	}
	sel, _ := f.init(reqs, nil, Options{})
	if len(sel) != n || most != packagesAtOnce {
		t.Errorf("got %d providers, and %d downloads at once, want %d and %d", len(sel), most, n, packagesAtOnce)
	}
	var said []string
	for _, e := range f.log.lines {
		if strings.HasPrefix(e, "install") {
			said = append(said, e)
		}
	}
	if !slices.IsSortedFunc(said, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) }) || len(said) != 2*n {
		t.Errorf("told: got %q, want %d lines in the order of the providers", said, 2*n)
	}
}

func TestOneFailureDoesNotHideAnother(t *testing.T) {
	f := newNetFixture(t)
	reqs := f.reqs(f.many(4))
	f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		bad := strings.Contains(r.URL.Path, "p1") || strings.Contains(r.URL.Path, "p3")
		if bad && strings.HasSuffix(r.URL.Path, ".zip") {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	}
	_, _, diags := f.inst.Ensure(t.Context(), reqs, nil, Options{})
	if len(diags) != 2 || !strings.Contains(diags[0].Detail, "acme/p1") || !strings.Contains(diags[1].Detail, "acme/p3") {
		t.Errorf("got %v, want two diagnostics, about acme/p1 and acme/p3", diags)
	}
}

func TestInterruptStopsAll(t *testing.T) {
	f := newNetFixture(t)
	reqs := f.reqs(f.many(4))
	ctx, cancel := context.WithCancelCause(t.Context())
	f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, ".zip") {
			return false
		}
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("PK"))
		w.(http.Flusher).Flush()
		cancel(errors.New("interrupted"))
		<-r.Context().Done()
		return true
	}
	_, _, diags := f.inst.Ensure(ctx, reqs, nil, Options{})
	if len(diags) != 1 || diags[0].Summary != "Installation interrupted" {
		t.Errorf("got %v, want one diagnostic: Installation interrupted", diags)
	}
	err := filepath.WalkDir(f.inst.DataDir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTurns(t *testing.T) {
	var got []int
	diags := atOnce(t.Context(), 20, func(k int, say func(func())) diag.List {
		for range 2 {
			say(func() { got = append(got, k) })
		}
		return diag.Errorf("e", "%d", k)
	})
	if !slices.IsSorted(got) || len(got) != 40 || len(diags) != 20 || diags[19].Detail != "19" {
		t.Errorf("got %v %v, want 40 in order, and 20 diagnostics up to 19", got, diags)
	}
}
