//go:build unix

package canary

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

var (
	shipped string // the program as users get it, but for the time that hashes take
	mirror  string // of the test provider
)

// recorder is the provider that is installed: it records the environment and arguments with which it was
// started, and becomes the test provider.
const recorder = `#!/bin/sh
{ env; echo "$0 $*"; } >"$CANARY_CHILDREN/$$"
exec '%s' "$@"
`

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) error {
		built, err := program.Prepare(dir, simcloud.Source)
		if err != nil {
			return err
		}
		provider := filepath.Join(dir, "recorder")
		if err := os.WriteFile(provider, fmt.Appendf(nil, recorder, built.Provider), 0o755); err != nil {
			return err
		}
		shipped, mirror = built.Mayfly, built.Mirror
		_, err = program.Mirror(mirror, simcloud.Source, "1.0.0", provider)
		return err
	})
}

// all reports whether the whole matrix is run.
func all() bool { return os.Getenv("MAYFLY_TEST_CANARIES") == "all" }
