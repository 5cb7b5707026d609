package fetch

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/ocimirror"
	"github.com/mayfly-iac/mayfly/internal/install/web"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

func TestOCI(t *testing.T) {
	s, err := registrytest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	archive := zipOf(map[string]string{"main.tf": "", "sub/x.tf": ""})
	digest := s.AddArtifact(registrytest.Artifact{Repository: "acme/net", Tag: "v1", Archive: archive})
	s.AddArtifact(registrytest.Artifact{Repository: "acme/newest", Tag: "latest", Archive: archive})
	s.AddArtifact(registrytest.Artifact{Repository: "acme/image", Tag: "v1", Archive: archive, Type: "application/vnd.oci.image"})
	client := web.New(web.Options{Wait: time.Millisecond})
	blocks := map[string]cliconfig.OCICredentials{}
	get := func(address string) (string, error) {
		k := &kit{T: t}
		dir := filepath.Join(t.TempDir(), "pkg")
		c := New(client, ocimirror.NewModules(client, ocimirror.NewKeyring(blocks, cliconfig.Environment{})), Limits{})
		err := c.Fetch(context.Background(), "oci://"+s.Host()+address, dir, nil)
		return k.list(dir), err
	}
	fails := func(address, want string) {
		t.Helper()
		if _, err := get(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	gets := func(address string) {
		t.Helper()
		if got, err := get(address); err != nil || got != "main.tf sub/x.tf" {
			t.Errorf("%s: got %q, %v, want \"main.tf sub/x.tf\"", address, got, err)
		}
	}
	gets("/acme/net?tag=v1")
	gets("/acme/net?digest=" + digest)
	gets("/acme/newest")
	fails("/acme/net", "no artifact latest")
	fails("/acme/net?tag=v2", "no artifact v2")
	fails("/acme/net?tag=v1&digest="+digest, "not both")
	fails("/acme/net?digest=md5:1", "sha256:HEXADECIMAL")
	fails("/acme/image?tag=v1", "not a package of modules")

	s.Login = "ann:Hunter2Hunter2"
	fails("/acme/net?tag=v1", "Log in with a tool such as docker")
	blocks[s.Host()+"/acme"] = cliconfig.OCICredentials{Username: cliconfig.NewSecret("ann"), Password: cliconfig.NewSecret("Hunter2Hunter2")}
	gets("/acme/net?tag=v1")

	s.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			return false
		}
		_, _ = w.Write(make([]byte, len(archive)))
		return true
	}
	fails("/acme/net?tag=v1", "changed on the way")
}
