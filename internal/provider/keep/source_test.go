package keep

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func TestFile(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	h.ok(h.configure(attrs{}))
	path := filepath.Join(dir, "secret.txt")
	filetest.Write(t, path, "of the file\n")
	o, diags := h.open("keep_file", attrs{"path": path})
	h.ok(diags)
	if o.result["content"] != "of the file\n" || !o.renewAt.IsZero() {
		t.Errorf("got %+v, want the content \"of the file\\n\", not to be renewed", o)
	}
	h.ok(o.close())
	filetest.Write(t, path, "\xff\xfe")
	for _, path := range []string{path, filepath.Join(dir, "missing"), dir} {
		_, diags := h.open("keep_file", attrs{"path": path})
		h.fails(diags, "File not read")
	}
	filetest.Write(t, path, strings.Repeat("x", maxOutput+1))
	_, diags = h.open("keep_file", attrs{"path": path})
	h.fails(diags, "File not read")
}

func TestEnvironmentVariable(t *testing.T) {
	h := newHost(t)
	h.ok(h.configure(attrs{}))
	t.Setenv("KEEP_TEST_VALUE", "of the environment")
	o, diags := h.open("keep_environment", attrs{"name": "KEEP_TEST_VALUE", "default": "other"})
	h.ok(diags)
	if o.result["value"] != "of the environment" {
		t.Errorf("got %+v, want the value \"of the environment\"", o.result)
	}
	o, diags = h.open("keep_environment", attrs{"name": "KEEP_TEST_UNSET", "default": "other"})
	h.ok(diags)
	if o.result["value"] != "other" {
		t.Errorf("got %+v, want the default \"other\"", o.result)
	}
	_, diags = h.open("keep_environment", attrs{"name": "KEEP_TEST_UNSET"})
	h.fails(diags, "Environment variable not set")
}

// shell returns a command of the system's shell, for the tests of keep_command.
func shell(t *testing.T, command string) []string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	return []string{"/bin/sh", "-c", command}
}

// TestCommand follows a command that is renewed and ended.
func TestCommand(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	h.ok(h.configure(attrs{}))
	t.Setenv("TF_VAR_secret", "leaked")
	o, diags := h.open("keep_command", attrs{
		"program":     shell(t, `printf '%s-%s-%s\n' "$(cat)" "$PREFIX" "$TF_VAR_secret"`),
		"environment": map[string]string{"PREFIX": "p"}, "stdin": "given", "working_dir": dir,
		"renew": shell(t, "cat >>renewed"), "renew_every": "5m", "close": shell(t, "cat >closed; test ! -e broken || { echo why >&2; exit 3; }"),
	})
	h.ok(diags)
	if o.result["output"] != "given-p-" || o.result["timeout"] != "1m" || !o.renewAt.Equal(h.clock.Add(5*time.Minute)) {
		t.Errorf("got %+v, want the output \"given-p-\", the timeout 1m, renewal at %s", o, h.clock.Add(5*time.Minute))
	}
	*h.clock = o.renewAt
	h.ok(o.renew())
	if !o.renewAt.Equal(h.clock.Add(5 * time.Minute)) {
		t.Errorf("next renewal: got %s, want %s", o.renewAt, h.clock.Add(5*time.Minute))
	}
	h.ok(o.close())
	for _, name := range []string{"renewed", "closed"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != "given-p-\n" {
			t.Errorf("%s: got %q, %v, want \"given-p-\\n\"", name, got, err)
		}
	}
	h.fails(o.close(), "Ephemeral resource not identified")

	o, diags = h.open("keep_command", attrs{"program": shell(t, "echo once"), "working_dir": dir, "close": shell(t, "echo why >&2; exit 3")})
	h.ok(diags)
	diags = o.close()
	h.fails(diags, "Not ended")
	if text := texts(diags); strings.Contains(text, "why") || !strings.Contains(text, "exit status 3") || strings.Contains(text, "once") {
		t.Error(text)
	}

	o, diags = h.open("keep_command", attrs{"program": shell(t, "echo once")})
	h.ok(diags)
	if !o.renewAt.IsZero() || o.private != nil {
		t.Errorf("%+v", o)
	}
	h.ok(o.close())
}

func TestFailedCommand(t *testing.T) {
	h := newHost(t)
	h.ok(h.configure(attrs{}))
	for command, want := range map[string]string{
		"echo output; echo complaint >&2; exit 4": "of the argument program ended with exit status 4. What it wrote to its standard error isn't shown",
		"kill -9 $$":            "signal: killed",
		"yes | head -c 1100000": "printed more than 1048576 bytes",
		`printf '\377'`:         "not text in UTF-8",
		"sleep 60 & sleep 60":   "did not end within the time of the argument timeout",
	} {
		_, diags := h.open("keep_command", attrs{"program": shell(t, command), "timeout": "1s"})
		h.fails(diags, "Command failed")
		if text := texts(diags); !strings.Contains(text, want) || strings.Contains(text, "complaint") {
			t.Errorf("%s: %s", command, text)
		}
	}
	_, diags := h.open("keep_command", attrs{"program": []string{filepath.Join(t.TempDir(), "none")}})
	h.fails(diags, "Command failed")
	for summary, wrong := range map[string]attrs{
		"No program":         {"program": []string{}},
		"Invalid timeout":    {"program": []string{"x"}, "timeout": "soon"},
		"Incomplete renewal": {"program": []string{"x"}, "renew": []string{"y"}},
	} {
		_, diags := h.open("keep_command", wrong)
		h.fails(diags, summary)
	}
}

func TestTunnelArguments(t *testing.T) {
	h := newHost(t)
	h.ok(h.configure(attrs{}))
	with := func(name string, v any) attrs {
		a := attrs{"tunnel_host": "bastion.example.com", "user": "u", "remote_host": "db", "remote_port": 5432}
		a[name] = v
		return a
	}
	for summary, wrong := range map[string]attrs{
		"Invalid port":        with("remote_port", 70000),
		"Empty argument":      with("user", ""),
		"Invalid timeout":     with("timeout", "-1s"),
		"Invalid private_key": with("private_key", "none"),
		"Invalid host_key":    with("host_key", "none"),
	} {
		_, diags := h.open("keep_tunnel", wrong)
		h.fails(diags, summary)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("USERPROFILE", t.TempDir())
	_, diags := h.open("keep_tunnel", with("timeout", "1s"))
	h.fails(diags, "Server's key not known")
}
