package arch

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// maxLinked is how many packages of other modules the program may link. With empty caches, all of them are
// compiled before the first command runs.
const maxLinked = 460

// generated are where vendors keep generated clients of whole services, each of hundreds of types and of
// seconds to compile, and frameworks that come with them.
var generated = []string{
	"cloud.google.com/go/", "google.golang.org/api/", "github.com/googleapis/google-cloud-go/", "github.com/aws/aws-sdk-go/", "github.com/aws/aws-sdk-go-v2/service/",
	"github.com/Azure/azure-sdk-for-go/", "k8s.io/", "github.com/envoyproxy/", "github.com/cncf/xds/", "go.opentelemetry.io/", "google.golang.org/grpc",
}

// light are what is linked of them all the same, with the reason.
var light = map[string]string{
	"cloud.google.com/go/auth":                         "finds credentials for Google Cloud",
	"cloud.google.com/go/compute/metadata":             "finds credentials of virtual machines at Google",
	"github.com/Azure/azure-sdk-for-go/sdk/azcore":     "shared by azidentity and what it is given",
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity": "finds credentials for Azure",
	"github.com/Azure/azure-sdk-for-go/sdk/internal":   "shared by azcore and azidentity",
	"github.com/aws/aws-sdk-go-v2/service/signin":      "credentials of a login in the browser",
	"github.com/aws/aws-sdk-go-v2/service/sso":         "credentials of a single sign-on",
	"github.com/aws/aws-sdk-go-v2/service/ssooidc":     "renews the tokens of a single sign-on",
	"github.com/aws/aws-sdk-go-v2/service/sts":         "credentials of assumed roles",
	"github.com/aws/aws-sdk-go-v2/service/internal/":   "shared by the services above",
}

// TestLinked checks what the program is made of; see docs/adr/019-clouds-without-generated-clients.md.
func TestLinked(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-deps", "./cmd/mayfly")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	linked = slices.DeleteFunc(linked, func(pkg string) bool {
		first, _, _ := strings.Cut(pkg, "/")
		return !strings.Contains(first, ".") || pkg == module || strings.HasPrefix(pkg, module+"/")
	})
	const fewest = 100
	if len(linked) < fewest {
		t.Fatalf("only %d packages were listed: the list is broken", len(linked))
	}
	if len(linked) > maxLinked {
		t.Errorf("the program links %d packages of other modules, more than %d: see which module has come in with git diff go.mod, and whether a lighter one does the same", len(linked), maxLinked)
	}
	needed := map[string]bool{}
	for _, pkg := range linked {
		within := func(prefix string) bool { return strings.HasPrefix(pkg+"/", prefix) }
		if !slices.ContainsFunc(generated, within) {
			continue
		}
		excused := false
		for prefix := range light {
			if within(strings.TrimSuffix(prefix, "/") + "/") {
				excused, needed[prefix] = true, true
			}
		}
		if !excused {
			t.Errorf("the program links %s: use the vendor's credentials and net/http, as the packages below cloud do", pkg)
		}
	}
	for prefix := range light {
		if !needed[prefix] {
			t.Errorf("the program links nothing of %s: the exception is needed no more", prefix)
		}
	}
}
