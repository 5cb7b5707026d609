package local

import (
	"errors"
	"os"
	"testing"
)

// TestAccessErrors has no name of a temporary file in the text of an error.
func TestAccessErrors(t *testing.T) {
	cause := &os.LinkError{Op: "rename", Old: ".a.tfstate.123.tmp", New: "a.tfstate", Err: os.ErrPermission}
	err := failed("the state", "a.tfstate", "written", cause)
	if got := err.Error(); got != "the state a.tfstate could not be written: permission denied" || !errors.Is(err, os.ErrPermission) {
		t.Error(got)
	}
}
