package provision

import (
	"strings"
	"testing"
)

// TestOutputOfFailure requires that the error of a command has the end of a long output, where the reason is,
// in whole lines.
func TestOutputOfFailure(t *testing.T) {
	lines := 0
	le := &localExec{work: work{Provisioner: &Provisioner{Output: func(string) { lines++ }}}}
	got := le.copyOutput(strings.NewReader(strings.Repeat("compiling\n", 5000) + "no space left on device"))
	if lines != 5001 {
		t.Errorf("%d lines were passed on, want 5001", lines)
	}
	if !strings.HasSuffix(got, "compiling\nno space left on device") || !strings.HasPrefix(got, "compiling\n") || len(got) > outputTail {
		t.Errorf("the error has %d bytes: %q...%q", len(got), got[:min(20, len(got))], got[max(0, len(got)-40):])
	}
}
