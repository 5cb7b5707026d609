package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

func TestInstallUnpackedAndPacked(t *testing.T) {
	f := newFixture(t)
	dir := f.unpacked("random", "3.9.0", "linux_amd64", "random 3.9")
	f.unpacked("random", "3.1.0", "linux_amd64", "random 3.1")
	f.unpacked("random", "4.0.0-beta1", "linux_amd64", "beta")
	f.packed("example.com/acme/cloud", "0.2.0", "linux_amd64", "cloud")
	reqs, diags := Requirements(f.tree(map[string]string{
		"main.tf":   need("hashicorp/random", ">= 3") + "module \"m\" {\n  source = \"./m\"\n}\n",
		"m/main.tf": need("example.com/acme/cloud", "~> 0.2"),
	}), nil)
	f.ok(diags)
	sel, lock := f.init(reqs, nil, Options{})
	random, cloud := f.provider("random"), f.provider("example.com/acme/cloud")
	f.wantContent(sel[random], "random 3.9")
	f.wantContent(sel[cloud], "cloud")
	if target, err := os.Readlink(filepath.Join(f.inst.DataDir, "providers", "registry.opentofu.org", "hashicorp", "random", "3.9.0", "linux_amd64")); err != nil || target != dir {
		t.Errorf("unpacked package: got a link to %q, %v, want one to the mirror: %q", target, err, dir)
	}
	want := []string{`finding cloud "~> 0.2"`, `finding random ">= 3.0.0"`, "installing cloud 0.2.0 false", "installed cloud 0.2.0 unauthenticated", "installing random 3.9.0 false", "installed random 3.9.0 unauthenticated"}
	if diff := cmp.Diff(want, f.log.lines); diff != "" {
		t.Error(diff)
	}
	f.nothingLeft()
	e, _ := lock.Entry(random)
	if e.Constraints != ">= 3.0.0" || !slices.Equal(e.Hashes, []lockfile.Hash{sel[random].Hash}) || !strings.HasPrefix(string(e.Hashes[0]), "h1:") {
		t.Errorf("entry: got %+v, want the constraints >= 3.0.0 and the checksum %s", e, sel[random].Hash)
	}

	again, same := f.init(reqs, lock, Options{})
	if !same.Equal(lock) || !cmp.Equal(again, sel, exported) {
		t.Error("the second run changed something")
	}
	want = []string{"reusing cloud 0.2.0", "reusing random 3.9.0", "using cloud 0.2.0 false", "using random 3.9.0 false"}
	if diff := cmp.Diff(want, f.log.lines); diff != "" {
		t.Error(diff)
	}
	verified, diags := f.inst.Selected(reqs, lock)
	f.ok(diags)
	if !cmp.Equal(verified, sel, exported) {
		t.Errorf("selected: got %v, want the installed %v", verified, sel)
	}
}

func TestPackedAndUnpackedHaveOneHash(t *testing.T) {
	f, g := newFixture(t), newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "x")
	g.packed("random", "1.0.0", "linux_amd64", "x")
	reqs := f.reqs(need("hashicorp/random", "1.0.0"))
	_, lock := f.init(reqs, nil, Options{})
	_, same := g.init(reqs, lock, Options{Readonly: true})
	if !same.Equal(lock) {
		t.Error("the archive gives another lock")
	}
}

func TestArchiveMatchesByItsBytes(t *testing.T) {
	f := newFixture(t)
	path := f.packed("random", "1.0.0", "linux_amd64", "x")
	file, err := os.Open(path)
	f.check(err)
	defer file.Close()
	info, err := file.Stat()
	f.check(err)
	zh, err := lockfile.HashArchive(file, info.Size())
	f.check(err)
	reqs := f.reqs(need("hashicorp/random", "1.0.0"))
	_, lock := f.init(reqs, nil, Options{})
	e, _ := lock.Entry(f.provider("random"))
	h1 := e.Hashes[0]
	e.Hashes = []lockfile.Hash{"zh:00", zh}
	lock.Set(e)
	f.check(os.RemoveAll(f.inst.DataDir))
	_, next := f.init(reqs, lock, Options{})
	e, _ = next.Entry(f.provider("random"))
	if !slices.Equal(e.Hashes, []lockfile.Hash{h1, "zh:00", zh}) && !slices.Equal(e.Hashes, []lockfile.Hash{h1, zh, "zh:00"}) {
		t.Errorf("checksums: got %v, want %s, and then zh:00 and %s", e.Hashes, h1, zh)
	}
}

func TestTamperedPackages(t *testing.T) {
	for _, packed := range []bool{false, true} {
		f := newFixture(t)
		put := f.unpacked
		if packed {
			put = f.packed
		}
		put("random", "1.0.0", "linux_amd64", "good")
		reqs := f.reqs(need("hashicorp/random", ">= 1"))
		_, lock := f.init(reqs, nil, Options{})
		put("random", "1.0.0", "linux_amd64", "evil")
		f.check(os.RemoveAll(f.inst.DataDir))
		f.fails(reqs, lock, Options{}, "does not match any of the checksums", "1.0.0", "linux_amd64")
		f.fails(reqs, lock, Options{Upgrade: true}, "does not match any of the checksums")
		f.fails(reqs, lock, Options{Readonly: true}, "does not match any of the checksums")
		left, err := filepath.Glob(filepath.Join(f.inst.packageDir(f.inst.providersDir(), f.provider("random"), lockVersion(f, lock)), "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("packed=%t: the refused package was left behind: %v %v", packed, left, err)
		}
	}
}

func TestTamperedInstallationIsReplaced(t *testing.T) {
	f := newFixture(t)
	f.packed("random", "1.0.0", "linux_amd64", "good")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	sel, lock := f.init(reqs, nil, Options{})
	exe := sel[f.provider("random")].Executable
	f.write(exe, "evil", 0o755)
	_, diags := f.inst.Selected(reqs, lock)
	f.wantError(diags, "Required plugins are not installed", "does not match any of the checksums", "mayfly init")
	f.init(reqs, lock, Options{})
	f.wantContent(sel[f.provider("random")], "good")
}

func TestNewestForTheWrongPlatform(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "x")
	f.packed("random", "2.0.0", "darwin_arm64", "x")
	f.fails(f.reqs(need("hashicorp/random", ">= 1")), nil, Options{}, "main.tf:", "Incompatible provider version", "no package for this platform, linux_amd64", "darwin_arm64", "2.0.0, 1.0.0")
	f.init(f.reqs(need("hashicorp/random", "< 2")), nil, Options{})
}

func TestConflictingConstraintsNameTheirPlaces(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "3.9.0", "linux_amd64", "x")
	f.unpacked("random", "2.0.0", "linux_amd64", "x")
	reqs, diags := Requirements(f.tree(map[string]string{
		"main.tf":   need("hashicorp/random", ">= 3") + "module \"m\" {\n  source = \"./m\"\n}\n",
		"m/main.tf": need("hashicorp/random", "~> 2.0"),
	}), nil)
	f.ok(diags)
	f.fails(reqs, nil, Options{}, ">= 3 at main.tf:5\n", "~> 2.0 at m/main.tf:5\n", "3.9.0, 2.0.0")
}

func TestLockedVersion(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "one")
	_, lock := f.init(f.reqs(need("hashicorp/random", ">= 1")), nil, Options{})
	f.unpacked("random", "1.5.0", "linux_amd64", "new")

	_, same := f.init(f.reqs(need("hashicorp/random", ">= 1")), lock, Options{})
	if !same.Equal(lock) {
		t.Error("a newer version replaced the locked one without -upgrade")
	}
	f.fails(f.reqs(need("hashicorp/random", ">= 1.2")), lock, Options{}, "The locked provider hashicorp/random 1.0.0 does not match configured version constraint >= 1.2.0", ">= 1.2 at main.tf:5", "mayfly init -upgrade")
	_, diags := f.inst.Selected(f.reqs(need("hashicorp/random", ">= 1.2")), lock)
	f.wantError(diags, "Inconsistent dependency lock file", "locked version selection 1.0.0", ">= 1.2 at main.tf:5", "mayfly init -upgrade")

	sel, next := f.init(f.reqs(need("hashicorp/random", ">= 1.2")), lock, Options{Upgrade: true})
	f.wantContent(sel[f.provider("random")], "new")
	if e, _ := next.Entry(f.provider("random")); e.Version.String() != "1.5.0" || len(e.Hashes) != 1 {
		t.Errorf("entry: got %+v, want version 1.5.0 with one checksum", e)
	}
	if old, _ := lock.Entry(f.provider("random")); old.Version.String() != "1.0.0" {
		t.Error("the lock given was changed")
	}
	f.fails(f.reqs(need("hashicorp/random", ">= 1")), lock, Options{Upgrade: true, Readonly: true}, "-upgrade", "-lockfile=readonly")
}

func TestUpgradeKeepsHashesOfTheSameVersion(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "one")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	_, lock := f.init(reqs, nil, Options{})
	e, _ := lock.Entry(f.provider("random"))
	e.Hashes = append(e.Hashes, "h1:of-another-platform=")
	lock.Set(e)
	if _, next := f.init(reqs, lock, Options{Upgrade: true}); !next.Equal(lock) {
		t.Errorf("lock: got\n%s\nwant it unchanged:\n%s", next.Bytes(), lock.Bytes())
	}
}

func TestReadonly(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "one")
	f.unpacked("null", "1.0.0", "linux_amd64", "null")
	_, lock := f.init(f.reqs(need("hashicorp/random", ">= 1")), nil, Options{})
	f.check(os.RemoveAll(f.inst.DataDir))
	f.fails(f.reqs(need("hashicorp/null", ">= 1")), lock, Options{Readonly: true}, "Provider dependency changes detected",
		"hashicorp/null is required but not in the lock file", "hashicorp/random is in the lock file but not required any more")
	if _, err := os.Stat(f.inst.DataDir); err == nil {
		t.Error("something was installed")
	}
	if _, same := f.init(f.reqs(need("hashicorp/random", "~> 1.0")), lock, Options{Readonly: true}); !same.Equal(lock) {
		t.Error("the lock changed")
	}
}

func TestDroppedProviderLeavesTheLock(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "one")
	_, lock := f.init(f.reqs(need("hashicorp/random", ">= 1")), nil, Options{})
	if _, next := f.init(f.reqs(""), lock, Options{}); next.Len() != 0 {
		t.Errorf("lock: got\n%s\nwant no entries", next.Bytes())
	}
}

func TestNotFound(t *testing.T) {
	f := newFixture(t)
	f.unpacked("registry.terraform.io/hashicorp/random", "1.0.0", "linux_amd64", "x")
	f.fails(f.reqs(`resource "random_pet" "x" {}`), nil, Options{},
		"main.tf:1,", "hashicorp/random (registry.opentofu.org/hashicorp/random) was not found", "filesystem mirror "+f.mirror, "used at main.tf:1\n",
		"registry.terraform.io/hashicorp/random. If that is the one you mean",
		"registry.opentofu.org/hashicorp/random/terraform-provider-random_VERSION_linux_amd64.zip")
	f.inst.Sources = MirrorDirs(filepath.Join(f.mirror, "missing"))
	f.fails(f.reqs(`resource "random_pet" "x" {}`), nil, Options{}, filepath.Join(f.mirror, "missing")+", which does not exist")
	f.inst.Sources = nil
	f.fails(f.reqs(`resource "random_pet" "x" {}`), nil, Options{}, "none: the provider_installation block")
}

func TestLockedVersionIsGone(t *testing.T) {
	f := newFixture(t)
	dir := f.unpacked("random", "1.0.0", "linux_amd64", "x")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	_, lock := f.init(reqs, nil, Options{})
	f.check(os.RemoveAll(dir))
	_, diags := f.inst.Selected(reqs, lock)
	f.wantError(diags, "there is no package for registry.opentofu.org/hashicorp/random 1.0.0 cached in")
	f.fails(reqs, lock, Options{}, "no package of this version for linux_amd64", f.mirror)
}

func TestSelectedWithoutLock(t *testing.T) {
	f := newFixture(t)
	_, diags := f.inst.Selected(f.reqs(need("hashicorp/random", ">= 1")), nil)
	f.wantError(diags, "Inconsistent dependency lock file", "required by this configuration but no version is selected", "To make the initial", "run:\n  mayfly init")
	_, diags = f.inst.Selected(f.reqs(need("hashicorp/random", ">= 1")), f.locks("hashicorp/null 1.0.0"))
	f.wantError(diags, "required by this configuration but no version is selected", "to match a changed configuration, run:\n  mayfly init")
}

func TestPluginCache(t *testing.T) {
	f := newFixture(t)
	cache := filepath.Join(t.TempDir(), "cache")
	f.inst.Config.PluginCacheDir = cache
	f.packed("random", "1.0.0", "linux_amd64", "x")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	f.fails(reqs, nil, Options{}, "plugin cache directory", cache, "create it")
	f.check(os.Mkdir(cache, 0o755))
	sel, lock := f.init(reqs, nil, Options{})
	f.wantContent(sel[f.provider("random")], "x")
	cached := f.inst.packageDir(cache, f.provider("random"), lockVersion(f, lock))
	if target, err := os.Readlink(sel[f.provider("random")].Dir); err != nil || target != cached {
		t.Errorf("installed: got %q, want a link to %s: %v", target, cached, err)
	}

	f.check(os.RemoveAll(f.inst.DataDir))
	f.check(os.RemoveAll(f.mirror))
	again, next := f.init(reqs, lock, Options{})
	f.wantContent(again[f.provider("random")], "x")
	if !slices.Contains(f.log.lines, "using random 1.0.0 true") || !next.Equal(lock) || again[f.provider("random")].Hash != sel[f.provider("random")].Hash {
		t.Errorf("installing again: got %v, %v\n%s\nwant the same package %v used, and the lock unchanged", f.log.lines, again, next.Bytes(), sel)
	}

	f.write(filepath.Join(cached, "terraform-provider-random_v1.0.0"), "evil", 0o755)
	for _, f.inst.Config.PluginCacheMayBreakLockFile = range []bool{true, false} { // without checksums only
		f.fails(reqs, lock, Options{}, "no package of this version")
	}
	f.packed("random", "1.0.0", "linux_amd64", "x")
	sel, _ = f.init(reqs, lock, Options{})
	f.wantContent(sel[f.provider("random")], "x")
}

func TestPluginCacheWithoutLock(t *testing.T) {
	f := newFixture(t)
	f.inst.Config.PluginCacheDir = t.TempDir()
	f.unpacked("random", "1.0.0", "linux_amd64", "x")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	finding, using := `finding random ">= 1.0.0"`, "using random 1.0.0 true"
	installed := []string{finding, "installing random 1.0.0 true", "installed random 1.0.0 unauthenticated", using}
	for _, mayBreak := range []bool{false, false, true} {
		want := installed // a package of the cache is not trusted without a checksum
		if mayBreak {
			want = []string{finding, using}
		}
		f.log.lines = nil
		f.inst.Config.PluginCacheMayBreakLockFile = mayBreak
		sel, lock := f.init(reqs, nil, Options{})
		hash, err := lockfile.HashDir(sel[f.provider("random")].Dir)
		if e, _ := lock.Entry(f.provider("random")); err != nil || !slices.Equal(e.Hashes, []lockfile.Hash{hash}) || sel[f.provider("random")].Hash != hash {
			t.Errorf("checksums: got %q and %q, %v, want %q", e.Hashes, sel[f.provider("random")].Hash, err, hash)
		}
		if !slices.Equal(f.log.lines, want) {
			t.Errorf("may break the lock file: %t: got %q, want %q", mayBreak, f.log.lines, want)
		}
	}
}

// A cache that also is the mirror must not eat the packages.
func TestPluginCacheIsTheMirror(t *testing.T) {
	f := newFixture(t)
	dir := f.unpacked("random", "1.0.0", "linux_amd64", "x")
	f.inst.Config.PluginCacheDir = f.mirror
	sel, _ := f.init(f.reqs(need("hashicorp/random", ">= 1")), nil, Options{})
	f.wantContent(sel[f.provider("random")], "x")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		t.Errorf("the package in the mirror is gone: %v", err)
	}
}

func TestDevOverride(t *testing.T) {
	f := newFixture(t)
	dev := t.TempDir()
	random := f.provider("random")
	f.inst.Config.Installation = &cliconfig.Installation{DevOverrides: map[addr.Provider]string{random: dev}}
	reqs := f.reqs(need("hashicorp/random", ">= 99"))
	f.fails(reqs, nil, Options{}, "Invalid provider development override", "terraform-provider-random*", dev)
	f.write(filepath.Join(dev, "terraform-provider-random"), "dev", 0o755)
	lock := lockfile.New()
	lock.Set(lockfile.Entry{Provider: random, Hashes: []lockfile.Hash{"h1:x"}})
	for _, l := range []*lockfile.Lock{nil, lock} {
		sel, next, diags := f.inst.Ensure(context.Background(), reqs, l, Options{Readonly: true})
		f.ok(diags)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, dev) || !next.Equal(l) || !sel[random].Dev {
			t.Errorf("got %v %+v, want one warning with %s, the lock unchanged, and the provider in development selected", diags, sel, dev)
		}
	}
	sel, diags := f.inst.Selected(reqs, nil)
	f.ok(diags)
	f.wantContent(sel[random], "dev")
}

func TestProvidersThatAreNotInstalled(t *testing.T) {
	f := newFixture(t)
	f.inst.Embedded = []addr.Provider{f.provider("mayfly.dev/mayfly/keep")}
	f.inst.Reattached = func(p addr.Provider) bool { return p.Type == "debugged" }
	src := need("mayfly.dev/mayfly/keep", "1.0") + "resource \"terraform_data\" \"x\" {}\nresource \"debugged_thing\" \"x\" {}\n"
	sel, lock, diags := f.inst.Ensure(context.Background(), f.reqs(src), nil, Options{})
	f.ok(diags)
	if len(sel) != 0 || lock.Len() != 0 || len(diags) != 1 || !strings.Contains(diags[0].Detail, "part of Mayfly") {
		t.Errorf("got %v %v, want nothing selected, and one diagnostic that it is part of Mayfly", sel, diags)
	}
	f.fails(f.reqs(need("terraform.io/builtin/nonesuch", ">= 0")), nil, Options{}, "There is no built-in provider")
}

// TestNamesakeInTheProgram points out a provider that needs no installation, where its name alone means one
// that is published nowhere.
func TestNamesakeInTheProgram(t *testing.T) {
	f := newFixture(t)
	f.inst.Embedded = []addr.Provider{f.provider("mayfly.dev/mayfly/keep")}
	reqs := f.reqs("resource \"keep_note\" \"x\" {}\n")
	const want = `keep = { source = "mayfly.dev/mayfly/keep" }`
	f.fails(reqs, nil, Options{}, want)
	if _, diags := f.inst.Selected(reqs, nil); len(diags) != 1 || !strings.Contains(diags[0].Detail, want) || strings.Contains(diags[0].Detail, "-upgrade") {
		t.Error(diags)
	}
	f.inst.Sources = []Source{failing{}}
	f.fails(reqs, nil, Options{}, want)
}

// failing is a source that cannot be asked.
type failing struct{ Source }

func (failing) Allows(addr.Provider) bool { return true }

func (failing) Versions(context.Context, addr.Provider) (Available, error) {
	return nil, errors.New("no route to host")
}

func TestConcurrentInits(t *testing.T) {
	f := newFixture(t)
	f.packed("random", "1.0.0", "linux_amd64", strings.Repeat("x", 1<<16))
	f.inst.Config.PluginCacheDir = t.TempDir()
	f.inst.Observer = nil
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			sel, lock, diags := f.inst.Ensure(context.Background(), reqs, nil, Options{})
			if diags.HasErrors() {
				t.Error(diags.Err())
			}
			if e, _ := lock.Entry(f.provider("random")); !e.Matches(sel[f.provider("random")].Hash) {
				t.Errorf("lock %v, selection %v", e, sel)
			}
		})
	}
	group.Wait()
	left, err := filepath.Glob(filepath.Join(f.inst.Config.PluginCacheDir, "*", "*", "*", "*", ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestCancelledInit(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "x")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, diags := f.inst.Ensure(ctx, f.reqs(need("hashicorp/random", ">= 1")), nil, Options{})
	f.wantError(diags, "canceled")
}
