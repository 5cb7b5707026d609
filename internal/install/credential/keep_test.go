package credential

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func TestFileKeeper(t *testing.T) {
	dir := t.TempDir()
	k := &FileKeeper{Path: filepath.Join(dir, "below", "credentials.tfrc.json")}
	const host = "app.example.com:8443"
	if has, err := k.Has(t.Context(), host); has || err != nil {
		t.Fatalf("without a file: %v %v", has, err)
	}
	if err := k.Forget(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(k.Path); err == nil {
		t.Error("forgetting nothing has made a file")
	}
	if err := k.Store(t.Context(), host, cliconfig.NewSecret("a<&>b")); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(k.Path)
	if err != nil {
		t.Fatal(err)
	}
	cfg, diags := cliconfig.Parse(src, k.Path, cliconfig.Environment{})
	if len(diags) > 0 || cfg.Credentials[host].Reveal() != "a<&>b" || cfg.TokenOrigins[host] != k.Path {
		t.Errorf("%s: got it read as a token of %v, %v, want the token of %s, from %s", src, cfg.TokenOrigins, diags, host, k.Path)
	}
	if err := k.Forget(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	src, err = os.ReadFile(k.Path)
	if err != nil || strings.Contains(string(src), "token") {
		t.Errorf("%s %v", src, err)
	}
	if _, diags := cliconfig.Parse(src, k.Path, cliconfig.Environment{}); len(diags) > 0 {
		t.Errorf("what is left is read with %v", diags)
	}
}

func TestFileKeeperLeavesWhatItDoesNotUnderstand(t *testing.T) {
	for _, text := range []string{"[]", "null", `{"credentials": []}`, `{"credentials": {"a": `, "credentials \"a\" {\n}"} {
		path := filepath.Join(t.TempDir(), "credentials.tfrc.json")
		filetest.Write(t, path, text)
		k := &FileKeeper{Path: path}
		if err := k.Store(t.Context(), "example.com", cliconfig.NewSecret("s3cr3t")); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", text, err)
		}
		if src, err := os.ReadFile(path); err != nil || string(src) != text {
			t.Errorf("file: got %s, %v, want it unchanged: %s", src, err, text)
		}
	}
}

func TestFileKeeperFollowsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.json")
	if err := os.WriteFile(real, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "credentials.tfrc.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := (&FileKeeper{Path: link}).Store(t.Context(), "example.com", cliconfig.NewSecret("x")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != real {
		t.Errorf("link: got %s, %v, want it to lead to %s", to, err, real)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: got %v, %v, want 0600", info, err)
	}
}

func TestNewKeeper(t *testing.T) {
	if _, err := NewKeeper(nil, cliconfig.Environment{}); err == nil {
		t.Error("without a home directory, tokens are kept")
	}
	helper := &cliconfig.CredentialsHelper{Name: "absent"}
	k, err := NewKeeper(&cliconfig.Config{CredentialsHelper: helper}, cliconfig.Environment{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Store(t.Context(), "example.com", cliconfig.NewSecret("s3cr3t")); err == nil || !strings.Contains(err.Error(), "is not installed") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("a helper that is not installed: %v", err)
	}
}
