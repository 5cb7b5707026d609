package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

func simConfig(version string) map[string]string {
	return map[string]string{"main.tf": `
terraform {
  required_providers {
    sim = {
      source  = "` + simcloud.Source + `"
      version = "` + version + `"
    }
  }
  backend "local" {}
}
resource "sim_thing" "x" {
  name = "x"
}
`}
}

// chosen is the version of the test provider that the client sees.
func chosen(t *testing.T, tf *tfexec.Terraform) string {
	t.Helper()
	_, providers, err := tf.Version(t.Context(), true)
	ok(t, "version", err)
	if v := providers[simcloud.Source]; v != nil {
		return v.String()
	}
	return "none"
}

func TestInitOptions(t *testing.T) {
	fromMirror(t)
	tf, ctx := project(t, simConfig("1.0.0")), t.Context()
	ok(t, "init", tf.Init(ctx, tfexec.Backend(true), tfexec.Get(true), tfexec.BackendConfig("path=first.tfstate")))
	if got := chosen(t, tf); got != "1.0.0" {
		t.Errorf("version %s of the provider, want %s", got, "1.0.0")
	}
	ok(t, "apply", tf.Apply(ctx))
	have(t, tf, "first.tfstate", "sim_thing.x")

	filetest.Write(t, filepath.Join(tf.WorkingDir(), "main.tf"), simConfig(">= 1.0.0")["main.tf"])
	ok(t, "init", tf.Init(ctx))
	if got := chosen(t, tf); got != "1.0.0" {
		t.Errorf("version %s though the lock file has 1.0.0, want %s", got, "1.0.0")
	}
	ok(t, "upgrade", tf.Init(ctx, tfexec.Upgrade(true)))
	if got := chosen(t, tf); got != "1.1.0" {
		t.Errorf("version %s after the upgrade, want %s", got, "1.1.0")
	}
	if err := tf.Init(ctx, tfexec.BackendConfig("path=second.tfstate")); err == nil || !strings.Contains(err.Error(), "reconfigure") {
		t.Errorf("another backend: %v", err)
	}
	ok(t, "reconfigure", tf.Init(ctx, tfexec.Reconfigure(true), tfexec.BackendConfig("path=second.tfstate")))
	absent(t, tf, "second.tfstate")
	ok(t, "back", tf.Init(ctx, tfexec.Reconfigure(true), tfexec.BackendConfig("path=first.tfstate")))
	ok(t, "migrate", tf.Init(ctx, tfexec.ForceCopy(true), tfexec.BackendConfig("path=third.tfstate")))
	have(t, tf, "third.tfstate", "sim_thing.x")

	other := project(t, simConfig("1.0.0"))
	ok(t, "init without backend", other.Init(ctx, tfexec.Backend(false), tfexec.PluginDir(mirror)))
	absent(t, other, filepath.Join(".terraform", "terraform.tfstate"))
	if err := other.Init(ctx, tfexec.PluginDir(t.TempDir()), tfexec.Upgrade(true)); err == nil {
		t.Error("found a provider in an empty directory")
	}
	if err := other.Init(ctx, tfexec.Lock(false), tfexec.LockTimeout("1s"), tfexec.GetPlugins(true), tfexec.VerifyPlugins(true)); err == nil || !strings.Contains(err.Error(), "no longer available") {
		t.Errorf("options that went out of use: %v", err)
	}
	if err := other.Init(ctx, tfexec.Dir("elsewhere")); err == nil || !strings.Contains(err.Error(), "-chdir") {
		t.Errorf("a directory as an argument: %v", err)
	}
	var stream bytes.Buffer
	ok(t, "init as a stream", other.InitJSON(ctx, &stream, tfexec.Upgrade(true)))
	if got := told(t, stream.Bytes()); len(got) < 2 || got[0] != "version" {
		t.Errorf("messages: got %q, want at least two, version first", got)
	}
}

// serveRegistry starts a registry with the test provider, which answers for the host in its address.
func serveRegistry(t *testing.T) *registrytest.Server {
	t.Helper()
	s, err := registrytest.Start()
	ok(t, "registry", err)
	t.Cleanup(s.Close)
	for _, v := range simVersions {
		name := "terraform-provider-sim_v" + v
		script := "#!/bin/sh\n# version " + v + "\nexec '" + simBinary + "' \"$@\"\n"
		s.Add(registrytest.Package{
			Name: strings.SplitN(simcloud.Source, "/", 2)[1], Version: v, Platform: runtime.GOOS + "_" + runtime.GOARCH,
			Archive: registrytest.Zip(map[string]string{name: script}),
		})
	}
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	ok(t, "certificate", s.WriteCertificate(certificate))
	t.Setenv("SSL_CERT_FILE", certificate)
	t.Setenv(simcloud.EnvDir, t.TempDir())
	settings(t, registryHost(s)+"provider_installation {\n  direct {}\n}\n")
	return s
}

// registryHost is the part of a CLI configuration that says where the registry of the test provider is.
func registryHost(s *registrytest.Server) string {
	host, _, _ := strings.Cut(simcloud.Source, "/")
	return "host \"" + host + "\" {\n  services = {\n    \"providers.v1\" = \"https://" + s.Host() + "/v1/providers/\"\n  }\n}\n"
}

func TestProvidersLockAndMirror(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the provider in the registry is a shell script")
	}
	registry := serveRegistry(t)
	tf, ctx := project(t, simConfig("1.1.0")), t.Context()
	ok(t, "user agent", tf.SetAppendUserAgent("acme/1.2"))
	platform := runtime.GOOS + "_" + runtime.GOARCH
	ok(t, "lock", tf.ProvidersLock(ctx, tfexec.Platform(platform), tfexec.Provider(simcloud.Source)))
	for _, r := range registry.Requests() {
		if !strings.HasPrefix(r.Agent, "Mayfly") || !strings.Contains(r.Agent, "acme/1.2") {
			t.Errorf("a request of %q for %s", r.Agent, r.Path)
		}
	}
	lock := filepath.Join(tf.WorkingDir(), ".terraform.lock.hcl")
	first, err := os.ReadFile(lock)
	ok(t, "lock file", err)
	if text := string(first); !strings.Contains(text, "h1:") || !strings.Contains(text, "zh:") {
		t.Errorf("the lock file lacks checksums:\n%s", text)
	}
	packages := filepath.Join(t.TempDir(), "packages")
	ok(t, "mirror", tf.ProvidersMirror(ctx, packages, tfexec.Platform(platform)))
	ok(t, "removing the lock", os.Remove(lock))
	ok(t, "lock from the mirror", tf.ProvidersLock(ctx, tfexec.FSMirror(packages)))
	second, err := os.ReadFile(lock)
	ok(t, "lock file", err)
	if !strings.Contains(string(first), "h1:") || !strings.Contains(string(second), "h1:") {
		t.Errorf("the lock file lacks checksums:\n%s", second)
	}
	ok(t, "removing the lock", os.Remove(lock))
	ok(t, "lock from a network mirror", tf.ProvidersLock(ctx, tfexec.NetMirror("https://"+registry.Host()+"/mirror/")))
	// The library knows an option here that no OpenTofu has.
	if err := tf.ProvidersMirror(ctx, packages, tfexec.LockFile(false)); err == nil || !strings.Contains(err.Error(), "not defined") {
		t.Errorf("-lock-file: %v", err)
	}
	ok(t, "init", tf.Init(ctx))
	if got := chosen(t, tf); got != "1.1.0" {
		t.Errorf("version %s of the provider, want %s", got, "1.1.0")
	}
}

// TestDocuments has the documents of all kinds parsed, of a configuration with everything in it.
func TestDocuments(t *testing.T) {
	fromMirror(t)
	tf, ctx := initialized(t, simConfig("1.1.0")), t.Context()
	schemas, err := tf.ProvidersSchema(ctx)
	ok(t, "schemas", err)
	sim := schemas.Schemas[simcloud.Source]
	if sim == nil || sim.ResourceSchemas["sim_thing"] == nil || sim.ResourceIdentitySchemas["sim_thing"] == nil || sim.Functions["echo"] == nil ||
		sim.EphemeralResourceSchemas["sim_secret"] == nil || sim.DataSourceSchemas["sim_lookup"] == nil {
		t.Fatalf("the schemas of the provider lack something: %+v", sim)
	}
	if id := sim.ResourceIdentitySchemas["sim_thing"].Attributes["name"]; id == nil || !id.RequiredForImport {
		t.Errorf("the identity of sim_thing: %+v", id)
	}
	ok(t, "apply", tf.Apply(ctx))
	state, err := tf.Show(ctx)
	ok(t, "show", err)
	thing := resources(state)["sim_thing.x"]
	if thing == nil || thing.IdentityValues["name"] != "x" || thing.Mode != tfjson.ManagedResourceMode || thing.SchemaVersion != 1 {
		t.Errorf("sim_thing.x in the state: got %+v, want a managed resource of schema version 1 with the identity x", thing)
	}
}
