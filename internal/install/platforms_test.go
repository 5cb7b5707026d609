package install

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

var darwin = Platform{"darwin", "arm64"}

// Fetching implements PlatformObserver.
func (e *events) Fetching(p addr.Provider, v versions.Version, platform Platform) {
	e.add("fetching %s %s %s", p.Type, v, platform)
}

// Fetched implements PlatformObserver.
func (e *events) Fetched(p addr.Provider, v versions.Version, platform Platform, proof string) {
	proof, _, _ = strings.Cut(proof, ",")
	e.add("fetched %s %s %s %s", p.Type, v, platform, proof)
}

func (f *netFixture) lockAll(src string, lock *lockfile.Lock, platforms ...Platform) *lockfile.Lock {
	f.t.Helper()
	f.log.lines = nil
	next, diags := f.inst.LockPlatforms(context.Background(), f.reqs(src), lock, platforms, f.log)
	f.ok(diags)
	return next
}

func (f *netFixture) lockFails(src string, lock *lockfile.Lock, want ...string) {
	f.t.Helper()
	next, diags := f.inst.LockPlatforms(context.Background(), f.reqs(src), lock, []Platform{linux}, f.log)
	f.wantError(diags, want...)
	if !next.Equal(lock) {
		f.t.Error("the lock changed with an error")
	}
}

func TestLockPlatforms(t *testing.T) {
	f := newNetFixture(t)
	lock := f.lockAll(need(cloud, ">= 1"), nil, linux, darwin)
	want := []string{
		`finding cloud ">= 1.0.0"`,
		"fetching cloud 1.2.0 linux_amd64", "fetched cloud 1.2.0 linux_amd64 signed", "fetching cloud 1.2.0 darwin_arm64", "fetched cloud 1.2.0 darwin_arm64 signed",
	}
	if diff := cmp.Diff(want, f.log.lines); diff != "" {
		t.Error(diff)
	}
	e, _ := lock.Entry(f.provider(cloud))
	if e.Version.String() != "1.2.0" || e.Constraints != ">= 1.0.0" || len(e.Hashes) != 4 {
		t.Errorf("entry: got %+v, want version 1.2.0, the constraints >= 1.0.0 and 4 checksums", e)
	}
	if _, err := os.Stat(f.inst.DataDir); err == nil {
		t.Error("something was installed")
	}
	for _, platform := range []Platform{linux, darwin} {
		f.inst.Platform = platform
		_, same := f.init(f.reqs(need(cloud, ">= 1")), lock, Options{Readonly: true})
		if !same.Equal(lock) {
			t.Error("the lock lacks something")
		}
	}
}

func TestLockPlatformsKeepsWhatIsLocked(t *testing.T) {
	f := newNetFixture(t)
	_, lock := f.init(f.reqs(need(cloud, "1.0.0")), nil, Options{})
	lock.Set(lockfile.Entry{Provider: f.provider("random"), Version: versions.MustParseVersion("1.0.0"), Hashes: []lockfile.Hash{"h1:x="}})
	e, _ := lock.Entry(f.provider(cloud))
	e.Hashes = append(e.Hashes, "h1:other=")
	lock.Set(e)
	next := f.lockAll(need(cloud, ">= 1"), lock, darwin)
	got, _ := next.Entry(f.provider(cloud))
	if got.Version.String() != "1.0.0" || len(got.Hashes) != 5 || next.Len() != 2 {
		t.Errorf("lock: got %s, want 2 entries, and version 1.0.0 with 5 checksums", next.Bytes())
	}
	if old, _ := lock.Entry(f.provider(cloud)); len(old.Hashes) != 4 {
		t.Error("the lock given was changed")
	}
	f.lockFails(need(cloud, "> 1.1"), lock, "does not match configured version constraint")
}

// A version that was published again with other content counts as an attack.
func TestLockPlatformsNoticesRepublishing(t *testing.T) {
	f := newNetFixture(t)
	lock := lockfile.New()
	lock.Set(lockfile.Entry{Provider: f.provider(cloud), Version: versions.MustParseVersion("1.0.0"), Hashes: []lockfile.Hash{"zh:00", "h1:x="}})
	f.lockFails(need(cloud, "1.0.0"), lock, "published again with other content", ".terraform.lock.hcl")
	diags := f.inst.MirrorPlatforms(context.Background(), f.reqs(need(cloud, "1.0.0")), lock, []Platform{linux}, t.TempDir(), f.log)
	f.wantError(diags, "published again with other content")
}

func TestLockPlatformsRefuses(t *testing.T) {
	f := newNetFixture(t)
	f.server.Add(registrytest.Package{Name: "acme/cloud", Version: "3.0.0", Platform: "linux_amd64", Archive: registrytest.Zip(map[string]string{"../evil": "x"})})
	f.lockFails(need(cloud, "3.0.0"), nil, "points outside of the package")
	old := packageLimits
	packageLimits.bytes = 4
	f.lockFails(need(cloud, "1.0.0"), nil, "unpacks to more than 4 bytes")
	packageLimits = old
	f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, ".zip") {
			return false
		}
		_, _ = w.Write([]byte("evil"))
		return true
	}
	f.lockFails(need(cloud, "1.0.0"), nil, "does not have the checksum that its publisher gives")
	_, diags := f.inst.LockPlatforms(context.Background(), f.reqs(need(cloud, "1.0.0")), nil, []Platform{{"plan9", "mips"}}, f.log)
	f.wantError(diags, "no package for this platform, plan9_mips")
}

func TestLockPlatformsFromDirectory(t *testing.T) {
	f := newNetFixture(t)
	f.unpacked(cloud, "1.0.0", "linux_amd64", "x")
	f.packed(cloud, "1.0.0", "darwin_arm64", "x")
	f.inst.Sources = MirrorDirs(f.mirror)
	lock := f.lockAll(need(cloud, "1.0.0"), nil, linux, darwin)
	if e, _ := lock.Entry(f.provider(cloud)); len(e.Hashes) != 2 { // both have the same content, and one is an archive
		t.Errorf("checksums: got %v, want 2", e.Hashes)
	}
}

// A package that was changed is not recorded beside the right one, while packages for more platforms are.
func TestLockPlatformsNoticesChangesInDirectory(t *testing.T) {
	type put func(src, version, platform, content string)
	for name, layout := range map[string]func(*netFixture) put{
		"unpacked": func(f *netFixture) put { return func(s, v, p, c string) { f.unpacked(s, v, p, c) } },
		"packed":   func(f *netFixture) put { return func(s, v, p, c string) { f.packed(s, v, p, c) } },
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.inst.Sources = MirrorDirs(f.mirror)
			put := layout(f)
			put(cloud, "1.0.0", "linux_amd64", "for linux")
			lock := f.lockAll(need(cloud, "1.0.0"), nil, linux)
			put(cloud, "1.0.0", "darwin_arm64", "for darwin")
			both := f.lockAll(need(cloud, "1.0.0"), lock, darwin)
			old, _ := lock.Entry(f.provider(cloud))
			if e, _ := both.Entry(f.provider(cloud)); len(e.Hashes) != 2*len(old.Hashes) || !e.Matches(old.Hashes...) {
				t.Errorf("checksums: got %v, want twice as many as in %v, and these among them", e.Hashes, old.Hashes)
			}
			put(cloud, "1.0.0", "linux_amd64", "evil")
			f.lockFails(need(cloud, "1.0.0"), lock, "may have been changed", ".terraform.lock.hcl")
			f.lockFails(need(cloud, "1.0.0"), both, "may have been changed")
			if next := f.lockAll(need(cloud, "1.0.0"), both, darwin); !next.Equal(both) {
				t.Errorf("lock: got\n%s\nwant it unchanged:\n%s", next.Bytes(), both.Bytes())
			}

			// That the mirror offers the right package for another platform too explains nothing once it is
			// installed.
			put(cloud, "1.0.0", "linux_amd64", "for linux")
			f.init(f.reqs(need(cloud, "1.0.0")), lock, Options{})
			dir := f.inst.packageDir(f.inst.providersDir(), f.provider(cloud), versions.MustParseVersion("1.0.0"))
			kept := filepath.Join(t.TempDir(), "kept")
			f.check(os.CopyFS(kept, os.DirFS(dir)))
			f.check(os.RemoveAll(dir))
			f.check(os.Rename(kept, dir))
			put(cloud, "1.0.0", "windows_amd64", "for linux")
			put(cloud, "1.0.0", "linux_amd64", "evil")
			f.lockFails(need(cloud, "1.0.0"), lock, "may have been changed")
		})
	}
}

func TestMirrorPlatforms(t *testing.T) {
	f := newNetFixture(t)
	dir := filepath.Join(t.TempDir(), "m")
	_, lock := f.init(f.reqs(need(cloud, "1.0.0")), nil, Options{})
	for _, platform := range []Platform{linux, darwin} {
		f.ok(f.inst.MirrorPlatforms(context.Background(), f.reqs(need(cloud, ">= 1")), lock, []Platform{platform}, dir, f.log))
	}
	f.ok(f.inst.MirrorPlatforms(context.Background(), f.reqs(need(cloud, "1.2.0")), nil, []Platform{linux}, dir, f.log))
	entries, err := os.ReadDir(filepath.Join(dir, cloud))
	f.check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{
		"1.0.0.json", "1.2.0.json", "index.json", "terraform-provider-cloud_1.0.0_darwin_arm64.zip", "terraform-provider-cloud_1.0.0_linux_amd64.zip",
		"terraform-provider-cloud_1.2.0_linux_amd64.zip",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	var index struct{ Versions map[string]struct{} }
	text, err := os.ReadFile(filepath.Join(dir, cloud, "index.json"))
	f.check(err)
	f.check(json.Unmarshal(text, &index))
	if len(index.Versions) != 2 {
		t.Errorf("index: got %s, want 2 versions", text)
	}

	// A web server without any sense makes it a network mirror.
	files := httptest.NewTLSServer(http.FileServer(http.Dir(dir)))
	defer files.Close()
	web := &Network{Transport: files.Client().Transport, Env: cliconfig.Environment{Vars: map[string]string{}}}
	source, diags := web.Mirror(files.URL)
	f.ok(diags)
	for _, sources := range [][]Source{MirrorDirs(dir), {source}} {
		f.inst.Sources = sources
		f.check(os.RemoveAll(f.inst.DataDir))
		sel, same := f.init(f.reqs(need(cloud, "1.0.0")), lock, Options{Readonly: true})
		f.wantContent(sel[f.provider(cloud)], "cloud 1.0.0 linux_amd64")
		if !same.Equal(lock) || !slices.Contains(f.log.lines, "installed cloud 1.0.0 verified checksum") {
			t.Errorf("%s: got %v, want the lock unchanged, and cloud 1.0.0 verified by its checksum", sources[0], f.log.lines)
		}
	}
}

func TestMirrorOfUnpackedPackages(t *testing.T) {
	f := newNetFixture(t)
	f.unpacked(cloud, "1.0.0", "linux_amd64", "x")
	f.inst.Sources = MirrorDirs(f.mirror)
	f.wantError(f.inst.MirrorPlatforms(context.Background(), f.reqs(need(cloud, "1.0.0")), nil, []Platform{linux}, t.TempDir(), f.log), "not an archive")
}

func TestParsePlatform(t *testing.T) {
	if p, err := ParsePlatform("linux_amd64"); err != nil || p != linux {
		t.Errorf("got %v %v, want %v", p, err, linux)
	}
	for _, bad := range []string{"", "linux", "linux_", "_amd64", "a_b_c", "../x_y", "a b_c"} {
		if p, err := ParsePlatform(bad); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("%q: %v %v", bad, p, err)
		}
	}
}
