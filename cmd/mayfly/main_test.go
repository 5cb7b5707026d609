package main

import (
	"maps"
	"os"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/script"
)

func TestMain(m *testing.M) {
	if os.Getenv("MAYFLY_TEST_MAIN") != "" {
		main()
	}
	programs := map[string]func(){"mayfly": main}
	maps.Copy(programs, script.Browsers)
	script.Main(m, programs)
}

func TestScripts(t *testing.T) { script.Run(t, "testdata/script") }
