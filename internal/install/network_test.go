package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

// netFixture is a fixture whose providers come from a server: cloud of example.com, in two versions for two
// platforms.
type netFixture struct {
	*fixture
	server *registrytest.Server
	net    *Network
}

const cloud = "example.com/acme/cloud"

func newNetFixture(t *testing.T) *netFixture {
	t.Helper()
	s, err := registrytest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	f := &netFixture{fixture: newFixture(t), server: s}
	for _, v := range []string{"1.0.0", "1.2.0", "2.0.0-beta1"} {
		for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
			f.publish(v, platform, "cloud "+v+" "+platform)
		}
	}
	f.net = &Network{Transport: s.Transport(), Pause: time.Millisecond, Env: cliconfig.Environment{GOOS: "linux", Home: t.TempDir(), Vars: map[string]string{}}}
	f.inst.Config = nil
	f.configure("")
	return f
}

func (f *netFixture) publish(version, platform, content string) {
	f.server.Add(registrytest.Package{
		Name: "acme/cloud", Version: version, Platform: platform,
		Archive: registrytest.Zip(map[string]string{"terraform-provider-cloud_v" + version: content, "LICENSE": "free"}),
	})
}

// configure sets the sources by a CLI configuration. In its text, SERVER stands for the server's address.
func (f *netFixture) configure(rc string) {
	f.t.Helper()
	cfg, diags := cliconfig.Parse([]byte(strings.ReplaceAll(rc, "SERVER", f.server.Host())), "rc", f.net.Env)
	f.ok(diags)
	f.net.Config, f.net.creds, f.inst.Config = cfg, nil, cfg
	f.inst.Sources, diags = f.net.Sources()
	f.ok(diags)
}

// methods are the ways in which the server offers its packages, by the CLI configuration for each.
var methods = map[string]string{
	"registry":       "",
	"network mirror": "provider_installation {\n  network_mirror {\n    url = \"https://SERVER/mirror/\"\n  }\n}",
	"OCI mirror":     "provider_installation {\n  oci_mirror {\n    repository_template = \"SERVER/${namespace}/${type}\"\n    include = [\"example.com/*/*\"]\n  }\n}",
}

func TestInstallFromNetwork(t *testing.T) {
	for name, rc := range methods {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.configure(rc)
			f.server.Requests()
			reqs := f.reqs(need(cloud, ">= 1"))
			sel, lock := f.init(reqs, nil, Options{})
			p := f.provider(cloud)
			f.wantContent(sel[p], "cloud 1.2.0 linux_amd64")
			e, _ := lock.Entry(p)
			zh := map[string]int{"registry": 2, "network mirror": 1, "OCI mirror": 1}[name]
			if !e.Matches(sel[p].Hash) || len(e.Hashes) != zh+1 || !strings.HasPrefix(string(e.Hashes[0]), "h1:") {
				t.Errorf("checksums: got %v, want %s and %d of archives", e.Hashes, sel[p].Hash, zh)
			}
			seen := map[string]int{}
			for _, r := range f.server.Requests() {
				if seen[r.Path]++; seen[r.Path] > 1 {
					t.Errorf("%s was asked for again", r.Path)
				}
			}
			verified, diags := f.inst.Selected(reqs, lock)
			f.ok(diags)
			if !cmp.Equal(verified, sel, exported) {
				t.Errorf("selected: got %v, want the installed %v", verified, sel)
			}
			f.nothingLeft()

			again, same := f.init(reqs, lock, Options{})
			if !same.Equal(lock) || !cmp.Equal(again, sel, exported) || len(f.server.Requests()) > 0 {
				t.Error("the second run changed or asked something")
			}
			f.fails(f.reqs(need(cloud, "> 3")), nil, Options{}, "no available releases match the given constraints > 3.0.0", "> 3 at main.tf:5", "2.0.0-beta1, 1.2.0, 1.0.0")
			f.fails(f.reqs(need("example.com/acme/other", "> 3")), nil, Options{}, "example.com/acme/other) was not found", "  - ")
			f.inst.Platform = Platform{"plan9", "arm"}
			f.fails(f.reqs(need(cloud, "1.0.0")), nil, Options{}, "no package for this platform, plan9_arm", "darwin_arm64, linux_amd64")
		})
	}
}

// nothingLeft checks that downloads leave no files.
func (f *fixture) nothingLeft() {
	f.t.Helper()
	f.check(os.MkdirAll(f.inst.DataDir, 0o755))
	f.check(filepath.WalkDir(f.inst.DataDir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".") && path != f.inst.DataDir {
			f.t.Errorf("got %s left behind, want nothing", path)
		}
		return err
	}))
}

func TestRegistryOfConfiguredHost(t *testing.T) {
	f := newNetFixture(t)
	f.configure("host \"elsewhere.example.org\" {\n  services = {\n    \"providers.v1\" = \"https://SERVER/v1/providers/\"\n  }\n}")
	sel, _ := f.init(f.reqs(need("elsewhere.example.org/acme/cloud", ">= 1")), nil, Options{})
	f.wantContent(sel[f.provider("elsewhere.example.org/acme/cloud")], "cloud 1.2.0 linux_amd64")
	f.configure("host \"example.com\" {\n  services = {}\n}")
	f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "was not found in any of the search locations")
}

// A service may have empty elements in its path.
func TestPathOfServiceIsKept(t *testing.T) {
	f := newNetFixture(t)
	f.configure("host \"example.com\" {\n  services = {\n    \"providers.v1\" = \"https://SERVER/v1//providers//\"\n  }\n}")
	f.server.Requests()
	f.inst.Ensure(t.Context(), f.reqs(need(cloud, ">= 1")), nil, Options{})
	var asked []string
	for _, r := range f.server.Requests() {
		asked = append(asked, r.Path)
	}
	if !slices.Contains(asked, "/v1//providers//acme/cloud/versions") {
		t.Errorf("asked for %q", asked)
	}
}

// Programs take the directory of providers for a sign that init has succeeded.
func TestFailureLeavesNoProviders(t *testing.T) {
	for name, rc := range methods {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.configure(rc)
			lock := lockfile.New()
			lock.Set(lockfile.Entry{Provider: f.provider(cloud), Version: versions.MustParseVersion("1.2.0"), Hashes: []lockfile.Hash{"zh:00", "h1:0="}})
			f.fails(f.reqs(need(cloud, ">= 1")), lock, Options{}, "does not match any of the checksums recorded")
			if _, err := os.Lstat(f.inst.providersDir()); !os.IsNotExist(err) {
				t.Errorf("there is a directory of providers: %v", err)
			}
			f.nothingLeft()
			f.init(f.reqs(need(cloud, ">= 1")), nil, Options{})
		})
	}
}

func TestProtocols(t *testing.T) {
	f := newNetFixture(t)
	f.server.Protocols["1.2.0"] = []string{"4.0", "7.1"}
	f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "speaks version 4.0, 7.1 of the plugin protocol", "newest version that can be used is 1.0.0")
	f.server.Protocols["1.0.0"] = []string{"4.0"}
	f.configure("")
	f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "no other version can be used either")
	f.server.Protocols["1.2.0"] = []string{"4.0", "6.1"}
	f.configure("")
	f.init(f.reqs(need(cloud, ">= 1")), nil, Options{})
}

func TestRegistryWarnings(t *testing.T) {
	f := newNetFixture(t)
	f.server.Warnings = []string{"This provider has moved."}
	_, _, diags := f.inst.Ensure(context.Background(), f.reqs(need(cloud, ">= 1")), nil, Options{})
	f.ok(diags)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "This provider has moved.") {
		t.Errorf("got %v, want one warning: \"This provider has moved.\"", diags)
	}
}

// What lies in one of the usual directories is not asked for anywhere else.
func TestLocalDirectoryKeepsTheNetworkOut(t *testing.T) {
	f := newNetFixture(t)
	f.mirror = filepath.Join(f.net.Env.ConfigDir(), "plugins")
	f.unpacked(cloud, "0.9.0", "linux_amd64", "mine")
	f.configure("")
	f.server.Requests()
	sel, _ := f.init(f.reqs(need(cloud, ">= 0")), nil, Options{})
	f.wantContent(sel[f.provider(cloud)], "mine")
	if r := f.server.Requests(); len(r) > 0 {
		t.Errorf("requests %v", r)
	}
}

func TestIncludeAndExclude(t *testing.T) {
	f := newNetFixture(t)
	f.configure("provider_installation {\n  network_mirror {\n    url = \"https://SERVER/mirror/\"\n    include = [\"example.com/other/*\"]\n  }\n" +
		"  direct {\n    exclude = [\"example.com/acme/*\"]\n  }\n}")
	f.server.Requests()
	f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "has no method for it")
	if r := f.server.Requests(); len(r) > 0 {
		t.Errorf("requests %v", r)
	}
}

// Of all methods the newest version wins, and for equal ones the first method.
func TestSeveralMethods(t *testing.T) {
	f := newNetFixture(t)
	f.unpacked(cloud, "1.2.0", "linux_amd64", "local 1.2")
	f.unpacked(cloud, "1.1.0", "linux_amd64", "local 1.1")
	f.configure("provider_installation {\n  filesystem_mirror {\n    path = \"" + f.mirror + "\"\n  }\n  direct {}\n}")
	p := f.provider(cloud)
	for constraint, want := range map[string]string{">= 1": "local 1.2", "1.1.0": "local 1.1", "1.0.0": "cloud 1.0.0 linux_amd64"} {
		f.check(os.RemoveAll(f.inst.DataDir))
		sel, _ := f.init(f.reqs(need(cloud, constraint)), nil, Options{})
		f.wantContent(sel[p], want)
	}
}

// The lock file of one platform is enough to check the packages of others.
func TestLockFromRegistryHoldsOnOtherPlatforms(t *testing.T) {
	f := newNetFixture(t)
	reqs := f.reqs(need(cloud, ">= 1"))
	_, lock := f.init(reqs, nil, Options{})
	f.inst.Platform = Platform{"darwin", "arm64"}
	for name, rc := range methods {
		f.configure(rc)
		f.check(os.RemoveAll(f.inst.DataDir))
		sel, next := f.init(reqs, lock, Options{})
		f.wantContent(sel[f.provider(cloud)], "cloud 1.2.0 darwin_arm64")
		if e, _ := next.Entry(f.provider(cloud)); len(e.Hashes) != 4 {
			t.Errorf("%s: got the checksums %v, want 4", name, e.Hashes)
		}
		f.check(os.RemoveAll(f.inst.DataDir))
		_, same, diags := f.inst.Ensure(context.Background(), reqs, lock, Options{Readonly: true})
		f.ok(diags)
		if !same.Equal(lock) || len(diags) != 1 || !strings.Contains(diags[0].Detail, "mayfly providers lock -platform=darwin_arm64") {
			t.Errorf("%s: got %v, want the lock unchanged and one warning with the command that locks darwin_arm64", name, diags)
		}
	}
}

func TestRacingInitsShareOneCache(t *testing.T) {
	f := newNetFixture(t)
	f.configure("plugin_cache_dir = \"" + t.TempDir() + "\"")
	reqs := f.reqs(need(cloud, ">= 1"))
	var group sync.WaitGroup
	for range 6 {
		inst := &Installer{DataDir: filepath.Join(t.TempDir(), ".terraform"), Sources: f.inst.Sources, Platform: linux, Config: f.inst.Config}
		group.Go(func() {
			sel, lock, diags := inst.Ensure(context.Background(), reqs, nil, Options{})
			if diags.HasErrors() {
				t.Error(diags.Err())
				return
			}
			if _, diags := inst.Selected(reqs, lock); diags.HasErrors() {
				t.Error(diags.Err())
			}
			if text, err := os.ReadFile(sel[f.provider(cloud)].Executable); err != nil || string(text) != "cloud 1.2.0 linux_amd64" {
				t.Errorf("executable: got %q, %v, want \"cloud 1.2.0 linux_amd64\"", text, err)
			}
		})
	}
	group.Wait()
	left, err := filepath.Glob(filepath.Join(f.inst.Config.PluginCacheDir, cloud, "1.2.0", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A provider that may be running must not be replaced by the same.
func TestSamePackageStaysInTheCache(t *testing.T) {
	f := newNetFixture(t)
	f.configure("plugin_cache_dir = \"" + t.TempDir() + "\"")
	reqs := f.reqs(need(cloud, ">= 1"))
	sel, _ := f.init(reqs, nil, Options{})
	before, err := os.Stat(sel[f.provider(cloud)].Executable)
	f.check(err)
	f.check(os.Chmod(sel[f.provider(cloud)].Executable, 0o644))
	f.check(os.RemoveAll(f.inst.DataDir))
	sel, _ = f.init(reqs, nil, Options{})
	f.wantContent(sel[f.provider(cloud)], "cloud 1.2.0 linux_amd64") // which must be executable
	after, err := os.Stat(sel[f.provider(cloud)].Executable)
	f.check(err)
	if !os.SameFile(before, after) {
		t.Error("the package was replaced")
	}
}

func TestProgress(t *testing.T) {
	f := newNetFixture(t)
	var last, ended int64
	f.inst.Downloading = func(p addr.Provider, v versions.Version) (Progress, func()) {
		if p.Type != "cloud" || v.String() != "1.2.0" {
			t.Errorf("download: got %s %s, want cloud 1.2.0", p, v)
		}
		return func(done, total int64) {
			if done > total || done < last {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}, func() { ended++ }
	}
	f.init(f.reqs(need(cloud, ">= 1")), nil, Options{})
	if last == 0 || ended != 1 {
		t.Errorf("%d bytes, got %d ends, want 1", last, ended)
	}
}
