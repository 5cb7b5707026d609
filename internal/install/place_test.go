package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/state"
)

func TestMakeExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	outer := t.TempDir()
	dir, other := filepath.Join(outer, "[a]*"), filepath.Join(outer, "other")
	at := func(name string) string { return filepath.Join(dir, "terraform-provider-"+name) }
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(at("x"), nil, 0o640), os.WriteFile(filepath.Join(dir, "README"), nil, 0o644),
		os.Mkdir(at("directory"), 0o700), os.WriteFile(other, nil, 0o644), os.Symlink(other, at("link")))
	if err == nil {
		err = makeExecutable(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{at("x"): 0o751, filepath.Join(dir, "README"): 0o644, at("directory"): 0o700, other: 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s: got %v, %v, want %v", path, info, err, want)
		}
	}
}

func TestUnchangedPackage(t *testing.T) {
	outer := t.TempDir()
	dir, link := filepath.Join(outer, "package"), filepath.Join(outer, "link")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "a"), []byte("good"), 0o644), os.Symlink(dir, link)); err != nil {
		t.Skip(err)
	}
	hash, err := lockfile.HashDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dir: true, link: false, filepath.Join(outer, "none"): false} {
		if got := unchanged(path, hash); got != want {
			t.Errorf("%s is unchanged: got %v, want %v", path, got, want)
		}
	}
	if unchanged(dir, "h1:other") {
		t.Error("a package with another checksum is unchanged")
	}
}

// TestSelectedForTheState selects a provider that only the state needs.
func TestSelectedForTheState(t *testing.T) {
	f := newFixture(t)
	f.unpacked("random", "1.0.0", "linux_amd64", "x")
	st := state.New()
	st.SetObject(addr.Object{Instance: instance(t, "random_pet.old")}, &state.Object{}, addr.ProviderConfig{Provider: f.provider("random")})
	reqs, diags := Requirements(nil, st)
	f.ok(diags)
	_, lock := f.init(reqs, nil, Options{})
	sel, diags := f.inst.Selected(reqs, lock)
	f.ok(diags)
	f.wantContent(sel[f.provider("random")], "x")
}

// TestUnexplained holds packages against the lock file. The mirror has packages for other platforms that may
// explain a checksum.
func TestUnexplained(t *testing.T) {
	f := newFixture(t)
	v := versions.MustParseVersion("1.0.0")
	hashOf := func(dir string) lockfile.Hash {
		h, err := lockfile.HashDir(dir)
		f.check(err)
		return h
	}
	darwin := hashOf(f.unpacked("random", "1.0.0", "darwin_arm64", "for darwin"))
	const good, changed = lockfile.Hash("h1:good"), lockfile.Hash("h1:changed")
	of := func(p Platform, source string, locked []lockfile.Hash, pkg Package, hashes ...lockfile.Hash) obtained {
		return obtained{
			choice:   choice{req: &Requirement{Provider: f.provider(source)}, version: v, locked: lockfile.Entry{Provider: f.provider(source), Version: v, Hashes: locked}},
			platform: p, pkg: pkg, hashes: hashes,
		}
	}
	windows := Platform{"windows", "amd64"}
	list := func(hashes ...lockfile.Hash) []lockfile.Hash { return hashes }
	for _, test := range []struct {
		name string
		o    obtained
		all  []obtained // beside it
		ok   bool
	}{
		{"nothing is locked", of(linux, "random", nil, Package{}, changed), nil, true},
		{"the locked package", of(linux, "random", list(good), Package{}, "zh:1", good), nil, true},
		{"another package", of(linux, "random", list(good), Package{}, changed), nil, false},
		{"the publisher gives all checksums", of(linux, "random", list(good), Package{Sums: list(changed)}, changed), nil, true},
		{"the mirror has the locked one for another platform", of(linux, "random", list(darwin), Package{}, changed), nil, true},
		{"only one of the locked ones is explained", of(linux, "random", list(darwin, good), Package{}, changed), nil, false},
		{"this run has it for another platform", of(linux, "random", list(good), Package{}, changed), []obtained{of(windows, "random", nil, Package{}, good)}, true},
		{"this run has it for the same platform", of(linux, "random", list(good), Package{}, changed), []obtained{of(linux, "random", nil, Package{}, good)}, false},
		{"this run has it of another provider", of(linux, "random", list(good), Package{}, changed), []obtained{of(windows, "null", nil, Package{}, good)}, false},
		{"an archive is locked, and the package is none", of(linux, "random", list("zh:0"), Package{}, changed), nil, true},
		{"an archive is locked, and the package is another one", of(linux, "random", list("zh:0"), Package{Packed: true}, changed, "zh:1"), nil, false},
		{"only an unknown kind of checksum is locked", of(linux, "random", list("h9:0"), Package{Packed: true}, changed), nil, true},
	} {
		err := f.inst.checkUnexplained(t.Context(), test.o, append([]obtained{test.o}, test.all...))
		if (err == nil) != test.ok {
			t.Errorf("%s: got %v, want success %t", test.name, err, test.ok)
		}
	}

	// So does what a source states about a package that was not downloaded.
	f.inst.Sources = []Source{stated{v, windows, good}}
	for p, ok := range map[Platform]bool{linux: true, windows: false} {
		o := of(p, "random", list(good), Package{}, changed)
		if err := f.inst.checkUnexplained(t.Context(), o, []obtained{o}); (err == nil) != ok {
			t.Errorf("changed package for %s: got %v, want success %t", p, err, ok)
		}
	}

	// What is installed explains checksums of other platforms, and not that of its own.
	install := func(p Platform, content string) lockfile.Hash {
		i := *f.inst
		i.Platform = p
		dir := i.packageDir(i.providersDir(), f.provider("random"), v)
		f.write(filepath.Join(dir, "terraform-provider-random"), content, 0o755)
		return hashOf(dir)
	}
	other, same := install(windows, "for windows"), install(linux, "for linux")
	f.write(filepath.Join(filepath.Dir(f.inst.packageDir(f.inst.providersDir(), f.provider("random"), v)), "odd", "file"), "odd", 0o644)
	odd := hashOf(filepath.Join(filepath.Dir(f.inst.packageDir(f.inst.providersDir(), f.provider("random"), v)), "odd"))
	for hash, ok := range map[lockfile.Hash]bool{other: true, same: false, odd: false} {
		o := of(linux, "random", list(hash), Package{}, changed)
		if err := f.inst.checkUnexplained(t.Context(), o, []obtained{o}); (err == nil) != ok {
			t.Errorf("changed package with the checksum %s: got %v, want success %t", hash, err, ok)
		}
	}
}

// stated is a source that has one package to be downloaded, with a checksum.
type stated struct {
	version  versions.Version
	platform Platform
	hash     lockfile.Hash
}

func (stated) Allows(addr.Provider) bool { return true }
func (stated) String() string            { return "test" }
func (s stated) Versions(context.Context, addr.Provider) (Available, error) {
	return Available{s.version: {s.platform}}, nil
}

func (s stated) Package(context.Context, addr.Provider, versions.Version, Platform) (Package, error) {
	return Package{Packed: true, Hashes: []lockfile.Hash{s.hash}}, nil
}
