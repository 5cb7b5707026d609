package install

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

// What lies in the repositories of an OCI mirror may be something else than providers.
func TestOddArtifacts(t *testing.T) {
	const (
		index = "application/vnd.oci.image.index.v1+json"
		image = "application/vnd.oci.image.manifest.v1+json"
		own   = `"artifactType": "application/vnd.opentofu.provider"`
		// child begins a descriptor of a package.
		child   = `"artifactType": "application/vnd.opentofu.provider-target", "platform": {"os": "linux", "architecture": "amd64"}, "size": 10, "mediaType": "` + image + `"`
		target  = `"artifactType": "application/vnd.opentofu.provider-target"`
		somezip = `{"mediaType": "archive/zip", "size": 1, "digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}`
		weakzip = `{"mediaType": "archive/zip", "size": 1, "digest": "sha512:00"}`
		tar     = `{"mediaType": "application/vnd.oci.image.layer.v1.tar", "size": 1, "digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}`
	)
	for name, tc := range map[string]struct {
		tag   string // the document under the tag
		media string // its media type
		pkg   string // the document under the digest of the package, "" for none
		want  string
	}{
		"a container image":   {"{}", image, "", `has the media type "application/vnd.oci.image.manifest.v1+json"`},
		"not JSON":            {"<html>", index, "", "can't be read"},
		"another artifact":    {`{"artifactType": "text/x"}`, index, "", `has the type "text/x"; a provider has`},
		"something else":      {"{" + own + `, "manifests": [{"artifactType": "text/x", "platform": {"os": "linux", "architecture": "amd64"}, "digest": "DIGEST"}]}`, index, "{}", "no package for this platform, linux_amd64"},
		"mistaken package":    {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, `{"artifactType": "text/x", "layers": [` + somezip + "]}", "is not a provider's package"},
		"no packages":         {"{" + own + `, "manifests": []}`, index, "", "no package for this platform, linux_amd64"},
		"a tag for a package": {"{" + own + `, "manifests": [{` + child + `, "digest": "latest"}]}`, index, "{}", "no package for this platform, linux_amd64"},
		"lost package":        {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, "", "not found"},
		"other package":       {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, "{}", "is not a provider's package"},
		"two layers":          {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, "{" + target + `, "layers": [` + somezip + "," + somezip + "]}", "have one layer"},
		"a tar archive":       {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, "{" + target + `, "layers": [` + tar + "]}", "have one layer, of the type"},
		"other checksum":      {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, "{" + target + `, "layers": [` + weakzip + "]}", "only sha256 is supported"},
		"lost archive":        {"{" + own + `, "manifests": [{` + child + `, "digest": "DIGEST"}]}`, index, "{" + target + `, "layers": [` + somezip + "]}", "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.configure(methods["OCI mirror"])
			digest := "sha256:" + registrytest.Sum([]byte(tc.pkg))
			f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				answer, media := tc.pkg, image
				switch {
				case strings.HasSuffix(r.URL.Path, "/manifests/1.0.0"):
					answer, media = strings.ReplaceAll(tc.tag, "DIGEST", digest), tc.media
				case !strings.HasSuffix(r.URL.Path, "/manifests/"+digest) || answer == "":
					return false
				}
				w.Header().Set("Content-Type", media)
				w.Header().Set("Docker-Content-Digest", "sha256:"+registrytest.Sum([]byte(answer)))
				_, _ = w.Write([]byte(answer))
				return true
			}
			f.fails(f.reqs(need(cloud, "1.0.0")), nil, Options{}, tc.want)
			f.absent()
		})
	}
}

func TestTamperedManifest(t *testing.T) {
	f := newNetFixture(t)
	f.configure(methods["OCI mirror"])
	f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/sha256:") {
			return false
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		_, _ = w.Write([]byte(`{"artifactType": "application/vnd.opentofu.provider-target", "layers": []}`))
		return true
	}
	f.fails(f.reqs(need(cloud, "1.0.0")), nil, Options{}, "igest")
	f.absent()
}
