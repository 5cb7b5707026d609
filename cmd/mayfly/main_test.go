package main

import (
	"maps"
	"os"
	"testing"

	goversion "github.com/hashicorp/go-version"

	"github.com/mayfly-iac/mayfly/internal/script"
)

// minimumVersion is the oldest that tools take for one with ephemeral values and write-only arguments.
var minimumVersion = goversion.Must(goversion.NewVersion("1.11.0"))

func TestMain(m *testing.M) {
	if os.Getenv("MAYFLY_TEST_MAIN") != "" {
		main()
	}
	programs := map[string]func(){"mayfly": main}
	maps.Copy(programs, script.Browsers)
	script.Main(m, programs)
}

func TestScripts(t *testing.T) { script.Run(t, "testdata/script") }
