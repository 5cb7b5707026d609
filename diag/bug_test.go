package diag

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// TestBug describes panics that were caught elsewhere, and such as are caught here. What was thrown may be a
// secret.
func TestBug(t *testing.T) {
	caught := func(f func()) (diags List) {
		defer func() { diags = Bug("t.x", recover()) }()
		f()
		return nil
	}
	write := func(m map[string]int) { m["a"] = 1 }
	broken := func() { write(nil) }
	for want, diags := range map[string]List{
		"assignment to entry in nil map at":   Bug("t.x", bug.Call(broken)),
		"assignment to entry in nil map at d": caught(broken),
		"an unexpected condition at":          caught(func() { panic("canary") }),
	} {
		if text := diags.Err().Error(); len(diags) != 1 || !strings.Contains(text, "on t.x, the program encountered "+want) || strings.Contains(text, "canary") {
			t.Errorf("got %v, want one diagnostic with t.x and %s, without the value", diags, want)
		}
	}
}
