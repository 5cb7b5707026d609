package reformat

import "testing"

func TestUnifiedDiff(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"a=1", "a = 1", "--- o\n+++ n\n@@ -1 +1 @@\n-a=1\n\\ No newline at end of file\n+a = 1\n\\ No newline at end of file\n"},
		{"x\na\ny\n", "x\nb\ny\n", "--- o\n+++ n\n@@ -1,3 +1,3 @@\n x\n-a\n+b\n y\n"},
		{"same\n", "same\n", ""},
	} {
		if got := unifiedDiff("o", "n", tt.before, tt.after); got != tt.want {
			t.Errorf("%q to %q: got %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}
