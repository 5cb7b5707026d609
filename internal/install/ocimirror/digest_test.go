package ocimirror

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/mayfly-iac/mayfly/internal/install/web"
)

func digestOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// served returns a client, and a repository in which everything is answered with a text under a digest.
func served(t *testing.T, media, text, digest string) (*web.Client, *remote.Repository) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		w.Header().Set("Docker-Content-Digest", digest)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	client := web.New(web.Options{Transport: s.Client().Transport})
	repo, err := remote.NewRepository(strings.TrimPrefix(s.URL, "https://") + "/acme/cloud")
	if err != nil {
		t.Fatal(err)
	}
	repo.Client = &auth.Client{Client: client.Single()}
	return client, repo
}

// TestBlobs downloads content, which must have its digest, whatever the server says.
func TestBlobs(t *testing.T) {
	for text, ok := range map[string]bool{"good": true, "evil": false} {
		digest := digestOf("good")
		client, repo := served(t, "application/octet-stream", text, digest)
		to, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		err = blob(t.Context(), client, repo, descriptor{Digest: digest, Size: 4}, to, nil)
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "damaged or changed on the way") {
			t.Errorf("%s: got %v, want success %t, or an error about damage on the way", text, err, ok)
		}
	}
}

// TestManifests reads manifests by a tag and by a digest.
func TestManifests(t *testing.T) {
	const good, evil, media = `{"a": "good"}`, `{"a": "evil"}`, manifestMedia
	long := `{"a": "good"` + string(bytes.Repeat([]byte(" "), maxManifest)) + "}"
	for name, test := range map[string]struct {
		reference, media, text, digest string
		want                           string // a part of the error
	}{
		"tag":              {"v1", media, good, digestOf(good), ""},
		"digest":           {digestOf(good), media, good, digestOf(good), ""},
		"changed":          {"v1", media, evil, digestOf(good), "does not have its digest"},
		"changed, digest":  {digestOf(good), media, evil, digestOf(good), "does not have its digest"},
		"another digest":   {digestOf(good), media, evil, digestOf(evil), "igest"},
		"another kind":     {"v1", indexMedia, good, digestOf(good), "media type"},
		"too long":         {"v1", media, long, digestOf(long), "is longer than"},
		"not JSON":         {"v1", media, "x", digestOf("x"), "can't be read"},
		"no such encoding": {"v1", media, "", digestOf(""), "can't be read"},
	} {
		_, repo := served(t, test.media, test.text, test.digest)
		var got struct{ A string }
		err := manifest(t.Context(), repo, test.reference, media, &got)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || err == nil && got.A != "good" {
			t.Errorf("%s: got %q, %v, want \"good\" or an error with %q", name, got.A, err, test.want)
		}
	}
}

func TestSum(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	for digest, want := range map[string]bool{
		"sha256:" + hex: true, "sha512:" + hex: false, hex: false, "sha256:" + hex[1:]: false, "sha256:" + hex + "0": false,
		"sha256:" + strings.Repeat("0A", 32): false, "sha256:" + strings.Repeat("0g", 32): false, "": false,
	} {
		if got, ok := sum(digest); ok != want || ok && got != hex {
			t.Errorf("%q: %q, got %v, want %v", digest, got, ok, want)
		}
	}
}
