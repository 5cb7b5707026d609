package ocimirror

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestCredentials checks whose credentials are sent to a registry.
func TestCredentials(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the credential helper is a shell script")
	}
	home, bin := t.TempDir(), t.TempDir()
	stored := func(name, user string) string {
		path := filepath.Join(home, name)
		filetest.Write(t, path, fmt.Sprintf(`{"auths": {"example.com": {"auth": %q}}}`, base64.StdEncoding.EncodeToString([]byte(user+":x"))))
		return path
	}
	stored(".docker/config.json", "docker")
	other := stored("other.json", "other")
	filetest.Write(t, filepath.Join(home, "broken.json"), "{")
	const helper = "#!/bin/sh\necho '{\"Username\": \"helper\", \"Secret\": \"x\"}'\n"
	if err := os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte(helper), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))

	named := func(user string) cliconfig.OCICredentials {
		return cliconfig.OCICredentials{Username: cliconfig.NewSecret(user)}
	}
	type blocks = map[string]cliconfig.OCICredentials
	for name, c := range map[string]struct {
		blocks blocks
		home   string
		want   string // the user, or "error"
	}{
		"nothing":                  {nil, t.TempDir(), ""},
		"what tools have stored":   {nil, home, "docker"},
		"a repository":             {blocks{"example.com/acme": named("own")}, home, "own"},
		"a registry":               {blocks{"example.com": named("own")}, home, "own"},
		"the longest":              {blocks{"example.com": named("short"), "example.com/acme": named("long")}, home, "long"},
		"a part of a name":         {blocks{"example.com/ac": named("own")}, home, "docker"},
		"a helper of a repository": {blocks{"example.com": {DockerHelper: "test"}}, home, "helper"},
		"no such helper":           {blocks{"example.com": {DockerHelper: "absent"}}, home, "error"},
		"no discovery":             {blocks{"": {}}, home, ""},
		"discovery":                {blocks{"": {DiscoverAmbient: true}}, home, "docker"},
		"files":                    {blocks{"": {DiscoverAmbient: true, DockerConfigFiles: []string{filepath.Join(home, "absent.json"), other}}}, home, "other"},
		"a broken file":            {blocks{"": {DiscoverAmbient: true, DockerConfigFiles: []string{filepath.Join(home, "broken.json")}}}, home, "error"},
		"a helper for the rest":    {blocks{"": {DockerHelper: "test"}}, home, "helper"},
		"files before a helper":    {blocks{"": {DiscoverAmbient: true, DockerHelper: "test"}}, home, "docker"},
		"nothing for a repository": {blocks{"example.com": {}, "": {DockerHelper: "test"}}, home, ""},
		"the default has no users": {blocks{"": named("default")}, t.TempDir(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			cred, err := NewKeyring(c.blocks, cliconfig.Environment{Home: c.home}).credential("example.com", "acme/net")(t.Context(), "example.com")
			if got := cred.Username; err == nil && got != c.want || (err != nil) != (c.want == "error") {
				t.Errorf("user: got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
