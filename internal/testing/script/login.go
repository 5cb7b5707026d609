package script

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// The only account of the login service.
const (
	loginUser     = "ada"
	loginPassword = "lovelace-1843"
)

// Browsers are programs for Main that open an address as a person's browser does who agrees to everything.
var Browsers = map[string]func(){"xdg-open": browse, "open": browse}

// browse visits the address that is its argument, and wherever that leads.
func browse() {
	resp, err := http.Get(os.Args[1])
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close() // it has been read
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// loginService sets up how people log in.
func loginService(ts *testscript.TestScript, s *registrytest.Server, how string) error {
	s.OAuth = &registrytest.OAuth{Grants: []string{"authz_code"}, User: loginUser, Password: loginPassword}
	switch how {
	case "code":
	case "password":
		s.OAuth.Grants = []string{"password"}
	case "page":
		s.OAuth = nil
	default:
		s.OAuth.Fault = how
	}
	host := strings.SplitN(simcloud.Source, "/", 2)[0]
	text := fmt.Sprintf("provider_installation {\n  direct {}\n}\nhost %q {\n  services = {\n    \"providers.v1\" = \"https://%s/v1/providers/\"\n    %s\n  }\n}\n", host, s.Host(), s.LoginServices())
	ts.Setenv("TF_CLI_CONFIG_FILE", "")
	return os.WriteFile(filepath.Join(ts.Getenv("HOME"), ".tofurc"), []byte(text), 0o644)
}
