package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// locks returns a lock with entries written as "SOURCE VERSION", each with a checksum that no package has.
func (f *fixture) locks(entries ...string) *lockfile.Lock {
	l := lockfile.New()
	for _, text := range entries {
		source, version, _ := strings.Cut(text, " ")
		l.Set(lockfile.Entry{Provider: f.provider(source), Version: versions.MustParseVersion(version), Constraints: ">= 1.0.0", Hashes: []lockfile.Hash{"zh:0123"}})
	}
	return l
}

func text(diags diag.List) string {
	var sb strings.Builder
	for _, d := range diags {
		sb.WriteString(d.Summary + ": " + d.Detail + "\n")
	}
	return sb.String()
}

// TestTerraformsSelections runs over lock files that Terraform has written: which entries count, and what
// becomes of them.
func TestTerraformsSelections(t *testing.T) {
	const ours, theirs = "registry.opentofu.org/", "registry.terraform.io/"
	random := need("hashicorp/random", ">= 1")
	for name, c := range map[string]struct {
		need   string
		lock   []string
		opts   Options
		want   string   // the version selected
		taken  bool     // with the warning
		errors []string // in place of both
	}{
		"version kept":           {random, []string{theirs + "hashicorp/random 1.0.0"}, Options{}, "1.0.0", true, nil},
		"ours goes first":        {random, []string{theirs + "hashicorp/random 1.0.0", ours + "hashicorp/random 1.5.0"}, Options{}, "", false, []string{"does not match any of the checksums"}},
		"other namespace":        {need("acme/cloud", ">= 1"), []string{theirs + "acme/cloud 1.0.0"}, Options{}, "1.5.0", false, nil},
		"other host":             {random, []string{"example.com/hashicorp/random 1.0.0"}, Options{}, "1.5.0", false, nil},
		"not required":           {random, []string{theirs + "hashicorp/null 1.0.0"}, Options{}, "1.5.0", false, nil},
		"upgrade":                {random, []string{theirs + "hashicorp/random 1.0.0"}, Options{Upgrade: true}, "1.5.0", false, nil},
		"upgrade to the same":    {random, []string{theirs + "hashicorp/random 1.5.0"}, Options{Upgrade: true}, "1.5.0", true, nil},
		"constraints exclude it": {need("hashicorp/random", ">= 1.2"), []string{theirs + "hashicorp/random 1.0.0"}, Options{}, "", false, []string{"locked provider hashicorp/random 1.0.0 does not match", "-upgrade"}},
		"version is gone":        {random, []string{theirs + "hashicorp/random 1.3.0"}, Options{}, "", false, []string{"hashicorp/random 1.3.0 could not be installed"}},
		"read-only": {random, []string{theirs + "hashicorp/random 1.0.0"}, Options{Readonly: true}, "", false, []string{
			ours + "hashicorp/random is required, for which the lock file has " + theirs + "hashicorp/random, as Terraform has selected it", `run "mayfly init" without`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for _, p := range []string{"hashicorp/random", "acme/cloud"} {
				for _, v := range []string{"1.0.0", "1.5.0"} {
					f.unpacked(p, v, "linux_amd64", v)
				}
			}
			reqs, lock := f.reqs(c.need), f.locks(c.lock...)
			_, next, diags := f.inst.Ensure(t.Context(), reqs, lock, c.opts)
			if c.errors != nil {
				f.wantError(diags, c.errors...)
				return
			}
			var only addr.Provider
			for p := range reqs {
				only = p
			}
			e, _ := next.Entry(only)
			stays := strings.HasPrefix(c.lock[0], theirs+"hashicorp/random ")
			if _, kept := next.Entry(f.provider(theirs + "hashicorp/random")); kept != stays {
				t.Errorf("Terraform's entry is kept: got %t, want %t", kept, stays)
			}
			if stays && next.Len() != 2 || !stays && next.Len() != 1 || e.Version.String() != c.want || len(e.Hashes) != 1 || e.Matches("zh:0123") {
				t.Errorf("lock: got %d entries and %+v for %s, want version %s with one checksum, and Terraform's entry kept: %t", next.Len(), e, only, c.want, stays)
			}
			f.ok(diags)
			if taken := strings.Contains(text(diags), theirs+"hashicorp/random => "+ours+"hashicorp/random"); taken != c.taken {
				t.Errorf("entry taken over: got %t, want %t, in: %v", taken, c.taken, diags)
			}
		})
	}
}

func TestLockPlatformsTakesOverSelections(t *testing.T) {
	f := newFixture(t)
	for _, v := range []string{"1.0.0", "1.5.0"} {
		f.packed("random", v, "linux_amd64", v)
	}
	reqs, lock := f.reqs(need("hashicorp/random", ">= 1")), f.locks("registry.terraform.io/hashicorp/random 1.0.0", "registry.terraform.io/hashicorp/null 1.0.0")
	next, diags := f.inst.LockPlatforms(t.Context(), reqs, lock, []Platform{linux}, f.log)
	f.ok(diags)
	e, _ := next.Entry(f.provider("random"))
	if next.Len() != 3 || e.Version.String() != "1.0.0" || len(e.Hashes) == 0 || e.Matches("zh:0123") {
		t.Errorf("lock: got %s, want 3 entries, with version 1.0.0 and its own checksums", next.Bytes())
	}
	if got := text(diags); !strings.Contains(got, "registry.terraform.io/hashicorp/random => registry.opentofu.org/hashicorp/random") || strings.Contains(got, "null") {
		t.Errorf("the warning is %q", got)
	}
	dir := t.TempDir()
	f.ok(f.inst.MirrorPlatforms(t.Context(), reqs, lock, []Platform{linux}, dir, f.log))
	if _, err := os.Stat(filepath.Join(dir, providerPath(f.provider("random")), "terraform-provider-random_1.0.0_linux_amd64.zip")); err != nil {
		t.Error(err)
	}
}
