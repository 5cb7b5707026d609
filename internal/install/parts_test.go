package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/state"
)

func TestRequirements(t *testing.T) {
	f := newFixture(t)
	tree := f.tree(map[string]string{
		"main.tf": need("example.com/acme/cloud", "~> 1.0") + `
provider "null" {
  version = ">= 3"
}
resource "cloud_server" "x" {}
resource "terraform_data" "x" {}
data "http" "x" {}
ephemeral "random_password" "x" {}
check "c" {
  data "tls_certificate" "x" {}
  assert {
    condition     = data.tls_certificate.x.id != null
    error_message = "x"
  }
}
module "m" {
  source = "./m"
}
`,
		"m/main.tf": need("example.com/acme/cloud", ">= 1.2, != 1.3") + "resource \"random_pet\" \"x\" {}\n",
	})
	st := state.New()
	obj := addr.Object{Instance: instance(t, "old_thing.x")}
	st.SetObject(obj, &state.Object{}, addr.ProviderConfig{Provider: f.provider("example.com/acme/old")})
	obj = addr.Object{Instance: instance(t, "random_pet.y")}
	st.SetObject(obj, &state.Object{}, addr.ProviderConfig{Provider: f.provider("random")})
	reqs, diags := Requirements(tree, st)
	f.ok(diags)
	got := map[string]string{}
	for _, r := range sorted(reqs) {
		got[r.Provider.String()] = r.Text() + "|" + r.Address
		if (r.Range == nil) == (r.Address == "") {
			t.Errorf("%s: range %v, address %q", r.Provider, r.Range, r.Address)
		}
	}
	want := map[string]string{
		"example.com/acme/cloud":                 "~> 1.0, >= 1.2.0, != 1.3.0|",
		"example.com/acme/old":                   "|old_thing.x",
		"registry.opentofu.org/hashicorp/null":   ">= 3.0.0|",
		"registry.opentofu.org/hashicorp/http":   "|",
		"registry.opentofu.org/hashicorp/random": "|",
		"registry.opentofu.org/hashicorp/tls":    "|",
		"terraform.io/builtin/terraform":         "|",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, diags = f.inst.Selected(map[addr.Provider]*Requirement{f.provider("example.com/acme/old"): reqs[f.provider("example.com/acme/old")]}, nil)
	f.wantError(diags, "required by old_thing.x in the state")
}

func instance(t *testing.T, s string) addr.Instance {
	t.Helper()
	i, err := addr.ParseInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestRequirementsOfNothing(t *testing.T) {
	if reqs, diags := Requirements(nil, nil); len(reqs) != 0 || len(diags) != 0 {
		t.Errorf("Requirements(nothing): got %v %v, want none", reqs, diags)
	}
}

func TestInvalidConstraint(t *testing.T) {
	f := newFixture(t)
	_, diags := Requirements(f.tree(map[string]string{"main.tf": need("hashicorp/random", "v1.2")}), nil)
	f.wantError(diags, "main.tf:5,", "Invalid provider version constraint", `"v1.2"`)
}

func TestMirrorLayout(t *testing.T) {
	f := newFixture(t)
	base := filepath.Join(f.mirror, "registry.opentofu.org", "hashicorp", "random")
	for _, name := range []string{
		"1.0.0/linux_amd64/x", "1.0.0/darwin_arm64/x", "v1.1.0/linux_amd64/x", "1.2/linux_amd64/x", "1.3.0/linux_amd64", "1.4.0/linux/x",
		"terraform-provider-random_1.0.0_linux_amd64.zip", "terraform-provider-random_2.0.0_linux_arm64.zip", "terraform-provider-random_2.1.0-rc1_linux_amd64.zip",
		"7.0.0_linux_amd64.zip", "terraform-provider-random_8.0.0_linux_amd64", "terraform-provider-random_3.0.0.zip", "terraform-provider-other_4.0.0_linux_amd64.zip", "terraform-provider-random_5.0.0_linux_amd64.zip.part",
		"terraform-provider-random_6.0.0_linux_amd64.zip/x", "README", ".git/x",
	} {
		f.write(filepath.Join(base, name), "", 0o644)
	}
	source := f.inst.Sources[0]
	found, err := source.Versions(context.Background(), f.provider("random"))
	f.check(err)
	got := map[string]string{}
	for v, platforms := range found {
		got[v.String()] = platformsText(platforms)
	}
	want := map[string]string{"1.0.0": "darwin_arm64, linux_amd64", "2.0.0": "linux_arm64", "2.1.0-rc1": "linux_amd64"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for v := range found {
		if v.String() != "1.0.0" {
			continue
		}
		pkg, err := source.Package(context.Background(), f.provider("random"), v, linux)
		if err != nil || pkg.Packed || pkg.Path != filepath.Join(base, "1.0.0", "linux_amd64") {
			t.Errorf("Package: got %+v, %v, want the unpacked one in %s", pkg, err, filepath.Join(base, "1.0.0", "linux_amd64"))
		}
		if _, err := source.Package(context.Background(), f.provider("random"), v, Platform{"plan9", "mips"}); err == nil {
			t.Error("found a package that is not there")
		}
	}
	if found, err := source.Versions(context.Background(), f.provider("absent")); err != nil || len(found) != 0 {
		t.Errorf("Versions of an absent provider: got %v, %v, want none", found, err)
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	env := cliconfig.Environment{GOOS: "linux", Home: dir, Vars: map[string]string{"XDG_DATA_DIRS": filepath.Join(dir, "none")}}
	plugins := filepath.Join(dir, ".terraform.d", "plugins")
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	names := func(list []Source) (out []string) {
		for _, s := range list {
			out = append(out, s.String())
		}
		return out
	}
	sources := func(cfg *cliconfig.Config) []Source {
		list, diags := (&Network{Config: cfg, Env: env}).Sources()
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		return list
	}
	if got, want := names(sources(nil)), []string{"filesystem mirror " + plugins, "the provider's own registry"}; !slices.Equal(got, want) {
		t.Errorf("implied: got %v, want %v", got, want)
	}
	cfg, diags := cliconfig.Parse([]byte("provider_installation {\n  network_mirror {\n    url = \"https://x.example.com/\"\n  }\n  filesystem_mirror {\n    path = \"/m\"\n    include = [\"a/b\"]\n  }\n}\n"), "rc", env)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	list := sources(cfg)
	if got, want := names(list), []string{"network mirror https://x.example.com/", "filesystem mirror /m"}; !slices.Equal(got, want) {
		t.Errorf("explicit: got %v, want %v", got, want)
	}
	p := addr.DefaultProvider("random")
	if !list[0].Allows(p) || list[1].Allows(p) {
		t.Error("the include pattern has no effect")
	}
}

func TestFindExecutable(t *testing.T) {
	for name, tc := range map[string]struct {
		files []string
		want  string // the file, or a part of the error after "!"
	}{
		"versioned":    {[]string{"terraform-provider-random_v1.0.0_x5", "LICENSE"}, "terraform-provider-random_v1.0.0_x5"},
		"plain":        {[]string{"terraform-provider-random"}, "terraform-provider-random"},
		"windows":      {[]string{"terraform-provider-random.exe"}, "terraform-provider-random.exe"},
		"other type":   {[]string{"terraform-provider-randomized"}, "!no file named terraform-provider-random*"},
		"two":          {[]string{"terraform-provider-random_v1", "terraform-provider-random_v2"}, "!several files"},
		"a directory":  {[]string{"terraform-provider-random/x"}, "!no file named"},
		"nothing here": {nil, "!no file named"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			dir := t.TempDir()
			for _, file := range tc.files {
				f.write(filepath.Join(dir, file), "", 0o755)
			}
			got, err := findExecutable(dir, f.provider("random"))
			if part, bad := strings.CutPrefix(tc.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v", err)
				}
			} else if err != nil || got != filepath.Join(dir, tc.want) {
				t.Errorf("got %s, %v, want %s", got, err, filepath.Join(dir, tc.want))
			}
		})
	}
}

func TestUnpackedPackageWithoutPermission(t *testing.T) {
	f := newFixture(t)
	dir := f.unpacked("random", "1.0.0", "linux_amd64", "x")
	f.check(os.Chmod(filepath.Join(dir, "terraform-provider-random_v1.0.0"), 0o644))
	f.fails(f.reqs(need("hashicorp/random", ">= 1")), nil, Options{}, "is not executable", "chmod +x")
}
