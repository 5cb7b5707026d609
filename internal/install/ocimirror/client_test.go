package ocimirror

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// clientOf returns a client for a mirror whose repositories a template gives.
func clientOf(t *testing.T, client *web.Client, template string) *Client {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(template), "test", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return New(client, expr, NewKeyring(nil, cliconfig.Environment{}))
}

// TestRepositories checks what a template may give, before any registry is asked.
func TestRepositories(t *testing.T) {
	p := addr.DefaultProvider("random")
	for template, want := range map[string]string{
		`"${hostname}/${namespace}/${type}"`: "",
		`null`:                               "does not give the name of a repository",
		`["a"]`:                              "does not give the name of a repository",
		`missing`:                            "does not give the name of a repository",
		`"example.com"`:                      "which is not a repository",
		`"example.com/${type}:1.0.0"`:        "which is not a repository",
	} {
		_, err := clientOf(t, nil, template).repository(p, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q (none if empty)", template, err, want)
		}
	}
}

// TestEndlessTags checks that a registry which always has more tags is not asked forever.
func TestEndlessTags(t *testing.T) {
	asked := 0
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked <= 2*maxTagPages {
			w.Header().Set("Link", fmt.Sprintf("<%s?last=%d>; rel=\"next\"", r.URL.Path, asked))
		}
		_, _ = w.Write([]byte(`{"tags": ["1.0.0"]}`))
	}))
	t.Cleanup(s.Close)
	c := clientOf(t, web.New(web.Options{Transport: s.Client().Transport}), fmt.Sprintf("%q", strings.TrimPrefix(s.URL, "https://")+"/acme/random"))
	if _, err := c.Versions(t.Context(), addr.DefaultProvider("random")); err == nil || asked > maxTagPages {
		t.Errorf("after %d requests: %v", asked, err)
	}
}

// TestAbsentVersion checks that a version without an artifact is left to other mirrors.
func TestAbsentVersion(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	c := clientOf(t, web.New(web.Options{Transport: s.Client().Transport}), fmt.Sprintf("%q", strings.TrimPrefix(s.URL, "https://")+"/acme/random"))
	if found, err := c.Archives(t.Context(), addr.DefaultProvider("random"), versions.MustParseVersion("1.0.0")); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// TestOddModules checks what is refused as a package of modules, and as the address of a repository.
func TestOddModules(t *testing.T) {
	layer := `{"mediaType": "archive/zip", "size": 1, "digest": "` + digestOf("x") + `"}`
	const weak = `{"mediaType": "archive/zip", "size": 1, "digest": "sha512:00"}`
	for layers, want := range map[string]string{
		"":                  "is not a package of modules",
		layer + "," + layer: "is not a package of modules",
		weak:                "only sha256 is supported",
	} {
		text := `{"artifactType": "` + moduleType + `", "layers": [` + layers + `]}`
		client, repo := served(t, manifestMedia, text, digestOf(text))
		modules := NewModules(client, NewKeyring(nil, cliconfig.Environment{}))
		to, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		if err := modules.Download(t.Context(), name(repo), "v1", "", to, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", layers, err)
		}
		for _, address := range []string{"example.com", name(repo) + ":v1"} {
			if err := modules.Download(t.Context(), address, "", "", to, nil); err == nil || !strings.Contains(err.Error(), "is not a repository") {
				t.Errorf("%q: %v", address, err)
			}
		}
	}
}
