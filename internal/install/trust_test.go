package install

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

func TestProofs(t *testing.T) {
	f := newNetFixture(t)
	reqs := f.reqs(need(cloud, "1.0.0"))
	last := func() string { return f.log.lines[len(f.log.lines)-1] }
	f.init(reqs, nil, Options{})
	if want := "installed cloud 1.0.0 signed, key ID " + f.server.Key.ID; last() != want {
		t.Errorf("got %q, want %q", last(), want)
	}
	f.configure(methods["network mirror"])
	f.check(os.RemoveAll(f.inst.DataDir))
	f.init(reqs, nil, Options{})
	if want := "installed cloud 1.0.0 verified checksum"; last() != want {
		t.Errorf("got %q, want %q", last(), want)
	}
	f.server.NoHashes = true
	f.configure(methods["network mirror"])
	f.check(os.RemoveAll(f.inst.DataDir))
	f.init(reqs, nil, Options{})
	if want := "installed cloud 1.0.0 unauthenticated"; last() != want {
		t.Errorf("got %q, want %q", last(), want)
	}
}

func TestTamperedDownloads(t *testing.T) {
	evil := registrytest.Zip(map[string]string{"terraform-provider-cloud_v1.2.0": "evil"})
	for name, rc := range methods {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.configure(rc)
			f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, ".zip") && !strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				_, _ = w.Write(evil)
				return true
			}
			f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "could not be installed")
			f.absent()
		})
	}
}

func (f *netFixture) absent() {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.inst.providersDir(), cloud, "*", "*_*"))
	f.check(err)
	for _, path := range found {
		f.t.Errorf("installed all the same: %s", path)
	}
	f.nothingLeft()
}

func TestSignatures(t *testing.T) {
	other, err := registrytest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	expired, err := registrytest.NewExpiredKey()
	if err != nil {
		t.Fatal(err)
	}
	ended, err := registrytest.NewKeyOfExpired()
	if err != nil {
		t.Fatal(err)
	}
	answer := func(end string, f http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, end) {
				return false
			}
			f(w, r)
			return true
		}
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(s)) }
	}
	for name, tc := range map[string]struct {
		set  func(f *netFixture)
		want string // a part of the proof, or of the error after "!"
	}{
		"another key":                {func(f *netFixture) { f.server.Key = other }, "!not by a key that the registry has"},
		"second key":                 {func(f *netFixture) { f.server.Published = []string{other.Armor, f.server.Key.Armor} }, "signed, key ID"},
		"broken first key":           {func(f *netFixture) { f.server.Published = []string{"no key", f.server.Key.Armor} }, "signed, key ID"},
		"only broken keys":           {func(f *netFixture) { f.server.Published = []string{"no key"} }, "!none of the keys can be read"},
		"no signature":               {func(f *netFixture) { f.server.Hook = answer(".sig", http.NotFound) }, "!is not signed, though the registry has a key"},
		"not a signature":            {func(f *netFixture) { f.server.Hook = answer(".sig", text("nonsense")) }, "!may have been tampered with"},
		"other sums":                 {func(f *netFixture) { f.server.Hook = answer("SHA256SUMS", text(strings.Repeat("0", 64)+"  x\n")) }, "!may have been tampered with"},
		"expired key":                {func(f *netFixture) { f.server.Key, f.server.Published = expired, []string{expired.Armor} }, "which has expired since"},
		"no key":                     {func(f *netFixture) { f.server.Published = nil }, "!the registry example.com gives no key"},
		"no key of the default host": {func(f *netFixture) { f.server.Published = nil }, "signature not checked: the registry has no key"},
		"enforced, no key of the default host": {func(f *netFixture) {
			f.server.Published, f.net.Env.Vars["OPENTOFU_ENFORCE_GPG_VALIDATION"] = nil, "true"
		}, "!OPENTOFU_ENFORCE_GPG_VALIDATION demands"},
		"other sums, no key of the default host": {func(f *netFixture) { f.server.Published, f.server.Hook = nil, answer("SHA256SUMS", text("")) }, "!have none for the file"},
		"expired signature":                      {func(f *netFixture) { f.server.Key, f.server.Published = ended, []string{ended.Armor} }, "!may have been tampered with"},
		"expired key, enforced": {func(f *netFixture) {
			f.server.Key, f.server.Published = expired, []string{expired.Armor}
			f.net.Env.Vars["OPENTOFU_ENFORCE_GPG_EXPIRATION"] = "true"
		}, "!OPENTOFU_ENFORCE_GPG_EXPIRATION demands"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			tc.set(f)
			f.configure("host \"registry.opentofu.org\" {\n  services = {\n    \"providers.v1\" = \"https://SERVER/v1/providers/\"\n  }\n}")
			source := cloud
			if strings.HasSuffix(name, "of the default host") {
				source = "acme/cloud"
			}
			reqs := f.reqs(need(source, "1.0.0"))
			if part, bad := strings.CutPrefix(tc.want, "!"); bad {
				f.fails(reqs, nil, Options{}, part)
				f.absent()
				return
			}
			f.init(reqs, nil, Options{})
			if got := f.log.lines[len(f.log.lines)-1]; !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDangerousArchives(t *testing.T) {
	var bomb bytes.Buffer
	w := zip.NewWriter(&bomb)
	for range packageLimits.files + 1 {
		if _, err := w.Create(rand.Text()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		archive []byte
		want    string
	}{
		"path traversal": {registrytest.Zip(map[string]string{"../../evil": "x"}), "points outside of the package"},
		"absolute path":  {registrytest.Zip(map[string]string{"/tmp/evil": "x"}), "points outside of the package"},
		"many files":     {bomb.Bytes(), "files; at most"},
		"not an archive": {[]byte("<html>"), "is not a zip archive"},
		"empty":          {registrytest.Zip(nil), "no file named terraform-provider-cloud"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.server.Add(registrytest.Package{Name: "acme/cloud", Version: "3.0.0", Platform: "linux_amd64", Archive: tc.archive})
			f.fails(f.reqs(need(cloud, "3.0.0")), nil, Options{}, tc.want)
			f.nothingLeft()
		})
	}
}

func TestZipBomb(t *testing.T) {
	f := newNetFixture(t)
	f.server.Add(registrytest.Package{
		Name: "acme/cloud", Version: "3.0.0", Platform: "linux_amd64",
		Archive: registrytest.Zip(map[string]string{"terraform-provider-cloud": strings.Repeat("\x00", 1<<20)}),
	})
	old := packageLimits
	packageLimits.bytes = 1 << 19
	defer func() { packageLimits = old }()
	f.fails(f.reqs(need(cloud, "3.0.0")), nil, Options{}, "unpacks to more than")
	f.absent()
}

func TestLockRefusesOtherPackages(t *testing.T) {
	f := newNetFixture(t)
	lock := lockfile.New()
	lock.Set(lockfile.Entry{Provider: f.provider(cloud), Version: versions.MustParseVersion("1.2.0"), Hashes: []lockfile.Hash{"zh:00", "h1:0="}})
	f.fails(f.reqs(need(cloud, ">= 1")), lock, Options{}, "does not match any of the checksums recorded", ".terraform.lock.hcl")
	f.absent()
}

// What a killed process has left unfinished goes with the next run.
func TestUnfinishedPackagesAreRemoved(t *testing.T) {
	f := newNetFixture(t)
	d := f.inst.installed(f.provider(cloud), versions.MustParseVersion("1.0.0"))
	f.write(filepath.Join(d.locks, d.unfinished()+"123", "package", "x"), "half", 0o644)
	f.write(filepath.Join(d.root, d.unfinished()+"456", "package", "x"), "half", 0o644)
	f.init(f.reqs(need(cloud, "1.0.0")), nil, Options{})
	f.nothingLeft()
}
