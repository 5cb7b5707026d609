package registry

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apparentlymart/go-versions/versions"
	regaddr "github.com/opentofu/registry-address/v2"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzAnswers lets a registry answer each question with the same text: no panic, every error says something,
// and a list has only what was in the answer.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"versions":[{"version":"1.0.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]},{"version":"x"}],"warnings":["w"]}`))
	f.Add([]byte(`{"modules":[{"versions":[{"version":"1.0.0"},{}]}],"location":"./x//y?z=1"}`))
	f.Add([]byte(`{"protocols":["5.0"],"filename":"f.zip","download_url":"f.zip","shasum":"` + sumA + `","shasums_url":"/s","shasums_signature_url":"g","signing_keys":{"gpg_public_keys":[{"key_id":"A","ascii_armor":"-----BEGIN PGP PUBLIC KEY BLOCK-----"}]}}`))
	f.Add([]byte(`{"location":"git::https://example.com/x"}`))
	var answer atomic.Pointer[[]byte]
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(*answer.Load())), Request: r}, nil
	})
	client := New(web.New(web.Options{Transport: transport}), svcauth.StaticCredentialsSource(nil), map[svchost.Hostname]cliconfig.Host{
		"registry.example.com": {Services: map[string]any{providerService: "https://registry.example.com/p/", moduleService: "https://registry.example.com/m/"}},
	}, Policy{})
	p, err := addr.ParseProvider("registry.example.com/a/b")
	if err != nil {
		f.Fatal(err)
	}
	m := regaddr.ModulePackage{Host: "registry.example.com", Namespace: "a", Name: "b", TargetSystem: "c"}
	f.Fuzz(func(t *testing.T, text []byte) {
		answer.Store(&text)
		list, err := client.Versions(t.Context(), p)
		told(t, err)
		if len(list.Versions) > len(text) {
			t.Errorf("%d versions from %d bytes", len(list.Versions), len(text))
		}
		_, err = client.Archive(t.Context(), p, versions.MustParseVersion("1.0.0"), "linux_amd64")
		told(t, err)
		_, err = client.ModuleVersions(t.Context(), m)
		told(t, err)
		location, err := client.ModuleLocation(t.Context(), m, "1.0.0")
		if told(t, err); err == nil && location == "" {
			t.Error("neither a location nor an error")
		}
	})
}

func told(t *testing.T, err error) {
	t.Helper()
	if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "goroutine ")) {
		t.Errorf("the error is %q", err)
	}
}
