package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/install/web"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
)

// TestMain makes everything in the process trust the servers of the tests, which all have the same
// certificate, and keeps the user's settings out.
func TestMain(m *testing.M) {
	os.Exit(program.Within(func(dir string) int {
		s := httptest.NewTLSServer(http.NotFoundHandler())
		cert := filepath.Join(dir, "cert.pem")
		err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644)
		s.Close()
		if err != nil {
			panic(err)
		}
		for name, value := range map[string]string{
			"SSL_CERT_FILE": cert, "AWS_CA_BUNDLE": cert, "GIT_SSL_CAINFO": cert, "HOME": dir, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull,
			"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "NETRC": filepath.Join(dir, "netrc"),
		} {
			os.Setenv(name, value)
		}
		return m.Run()
	}))
}

// kit is a web server with files, and a client of it.
type kit struct {
	*testing.T
	server *httptest.Server
	files  map[string][]byte
	mu     *sync.Mutex                                       // orders changes of the fields below before the requests that follow
	handle func(w http.ResponseWriter, r *http.Request) bool // answers in place of the files, if it returns true
	seen   []*http.Request
	limits Limits
	opts   web.Options
}

func newKit(t *testing.T) *kit {
	k := &kit{T: t, mu: new(sync.Mutex), files: map[string][]byte{}, opts: web.Options{Wait: time.Millisecond, DownloadRetries: 2, Stall: 20 * time.Second}}
	k.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.seen = append(k.seen, r)
		handle := k.handle
		k.mu.Unlock()
		if handle != nil && handle(w, r) {
			return
		}
		content, ok := k.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	k.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	k.server.StartTLS()
	k.Cleanup(k.server.Close)
	return k
}

// fetch gets a package and returns its files, "name" or "name -> target" for links.
func (k *kit) fetch(pkg string) (string, error) {
	k.Helper()
	dir := filepath.Join(k.TempDir(), "pkg")
	err := New(web.New(k.opts), nil, k.limits).Fetch(context.Background(), pkg, dir, nil)
	return k.list(dir), err
}

func (k *kit) list(dir string) string {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, path); {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			names = append(names, filepath.ToSlash(rel)+" -> "+filepath.ToSlash(target))
		case !d.IsDir():
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		k.Fatal(err)
	}
	return strings.Join(names, " ")
}

func (k *kit) gets(pkg, want string) {
	k.Helper()
	got, err := k.fetch(pkg)
	if err != nil || got != want {
		k.Errorf("%s: has %q, want %q; %v", Show(pkg), got, want, err)
	}
}

func (k *kit) fails(pkg string, words ...string) {
	k.Helper()
	_, err := k.fetch(pkg)
	if err == nil {
		k.Fatalf("%s: no error, want %q", Show(pkg), words)
	}
	for _, w := range words {
		if not, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(err.Error(), not) || !ok && !strings.Contains(err.Error(), w) {
			k.Errorf("%s: error %q, want %q in it", Show(pkg), err, w)
		}
	}
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func zipOf(files map[string]string) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		e, err := w.Create(name)
		if err == nil {
			_, err = e.Write([]byte(files[name]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

func tgzOf(headers ...*tar.Header) []byte {
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	w := tar.NewWriter(gz)
	for _, h := range headers {
		h.Mode = 0o644
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	if err := gz.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// repository makes a git repository with a tag v1, a branch dev and a link, and serves it at /git/repo.git.
func (k *kit) repository() (url, commit string) {
	k.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		k.Skip("there is no git on this machine")
	}
	root := k.TempDir()
	dir := filepath.Join(root, "repo.git")
	git := func(args ...string) string {
		k.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			k.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	k.must(os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	git("init", "-q", "-b", "main")
	write := func(name string) { k.must(os.WriteFile(filepath.Join(dir, name), []byte("# "+name), 0o644)) }
	commitAll := func(message string) {
		git("add", "-A")
		git("commit", "-q", "-m", message)
	}
	write("main.tf")
	write("sub/s.tf")
	k.must(os.Symlink("../main.tf", filepath.Join(dir, "sub", "link.tf")))
	commitAll("one")
	git("tag", "v1")
	commit = git("rev-parse", "HEAD")
	git("checkout", "-q", "-b", "dev")
	write("dev.tf")
	commitAll("two")
	git("checkout", "-q", "-b", "out", "main")
	k.must(os.Symlink("../../etc", filepath.Join(dir, "out")))
	commitAll("three")
	git("checkout", "-q", "main")
	write("new.tf")
	commitAll("four")

	core, err := exec.Command("git", "--exec-path").Output()
	k.must(err)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(core)), "git-http-backend"), Root: "/git",
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: io.Discard,
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	inner := k.handle
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		if inner != nil && inner(w, r) {
			return true
		}
		if !strings.HasPrefix(r.URL.Path, "/git/") {
			return false
		}
		backend.ServeHTTP(w, r)
		return true
	}
	return k.server.URL + "/git/repo.git", commit
}

func (k *kit) netrc(text string) {
	k.Helper()
	k.must(os.WriteFile(os.Getenv("NETRC"), []byte(text), 0o600))
	k.Cleanup(func() { _ = os.Remove(os.Getenv("NETRC")) })
}

func (k *kit) host() string { return fmt.Sprint(k.server.Listener.Addr()) }
