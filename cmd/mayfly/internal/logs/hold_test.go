package logs

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestHeldLines lets a provider log a value before it is known, and then more lines than may wait.
func TestHeldLines(t *testing.T) {
	var waiting []func()
	known := false
	var stderr strings.Builder
	s := Settings{
		Vars: map[string]string{"TF_LOG": "warn"}, Stderr: &stderr,
		Redact: func(s string) string {
			if known {
				return strings.ReplaceAll(s, "canary", "***")
			}
			return s
		},
		WhenKnown: func(name string, f func()) {
			if name != addr.DefaultProvider("test").String() {
				t.Error(name)
			}
			waiting = append(waiting, f)
		},
	}
	log, stop := s.Provider()
	log(addr.DefaultProvider("test"), "[WARN] it is canary")
	for range mostHeld + 1 {
		log(addr.DefaultProvider("test"), "[INFO] more")
	}
	if stderr.Len() > 0 {
		t.Errorf("%q before the value is known", stderr.String())
	}
	if len(waiting) != mostHeld {
		t.Errorf("got %d lines wait, want %d", len(waiting), mostHeld)
	}
	known = true
	for _, f := range waiting {
		f()
	}
	stop()
	const want = "[WARN] provider.terraform-provider-test: it is ***\n[WARN] mayfly: 2 lines of providers are missing here: they would have waited for answers with ephemeral values\n"
	if got := withoutTimes(stderr.String()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
