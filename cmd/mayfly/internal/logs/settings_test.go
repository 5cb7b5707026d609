package logs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestSettings logs what a provider and the engine say under each setting.
func TestSettings(t *testing.T) {
	const told, said = "[WARN] it is canary", "[DEBUG] it is a detail"
	provider := addr.DefaultProvider("test")
	for _, test := range []struct {
		vars map[string]string
		want string // what is logged, without the times
	}{
		{nil, ""},
		{map[string]string{"TF_LOG": "off"}, ""},
		{map[string]string{"TF_LOG": "error"}, ""},
		{map[string]string{"TF_LOG": "warn"}, "[WARN] provider.terraform-provider-test: it is ***\n[WARN] mayfly: it is ***\n"},
		{map[string]string{"TF_LOG_PROVIDER": "warn"}, "[WARN] provider.terraform-provider-test: it is ***\n"},
		{map[string]string{"TF_LOG_CORE": "warn"}, "[WARN] mayfly: it is ***\n"},
		{map[string]string{"TF_LOG_CORE": "warn", "TF_LOG": "error"}, "[WARN] mayfly: it is ***\n"},
		{map[string]string{"TF_LOG_CORE": "json"}, "[WARN] mayfly: it is ***\n[DEBUG] mayfly: it is a detail\n"},
	} {
		for _, toFile := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "log")
			var stderr strings.Builder
			vars := map[string]string{}
			for k, v := range test.vars {
				vars[k] = v
			}
			if toFile {
				vars["TF_LOG_PATH"] = path
			}
			s := Settings{Vars: vars, Stderr: &stderr, Redact: func(s string) string { return strings.ReplaceAll(s, "canary", "***") }}
			ofProvider, stop := s.Provider()
			if ofProvider != nil {
				ofProvider(provider, told)
				ofProvider(provider, said)
			}
			stop()
			ofCore, stop := s.Core()
			if ofCore != nil {
				ofCore(told)
				ofCore(said)
			}
			stop()
			if off := vars["TF_LOG"] == "off" || len(test.vars) == 0; off && (ofProvider != nil || ofCore != nil) {
				t.Errorf("%v: lines are received for nothing", vars)
			}
			got := stderr.String()
			if toFile {
				if got != "" {
					t.Errorf("%v: got %q on standard error beside the file, want nothing", vars, got)
				}
				got = file(t, path)
			}
			if got = withoutTimes(got); got != test.want {
				t.Errorf("%v:\ngot %swant\n%s", vars, got, test.want)
			}
		}
	}
}

// TestLogWithoutItsFile says that a log file cannot be opened, and logs to standard error.
func TestLogWithoutItsFile(t *testing.T) {
	var stderr strings.Builder
	log, stop := Settings{Vars: map[string]string{"TF_LOG": "warn", "TF_LOG_PATH": t.TempDir()}, Stderr: &stderr}.Core()
	log("[WARN] hello")
	stop()
	if got := stderr.String(); !strings.HasPrefix(got, "The log file of TF_LOG_PATH cannot be opened: ") || !strings.HasSuffix(got, " [WARN] mayfly: hello\n") {
		t.Error(got)
	}
}

// file returns the content of a log file, "" if there is none. It is private to its owner.
func file(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return ""
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the log file: got %v, want -rw-------", info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withoutTimes returns the lines of a log without the times that they begin with.
func withoutTimes(log string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(line, " ")
		out.WriteString(rest)
	}
	return out.String()
}
