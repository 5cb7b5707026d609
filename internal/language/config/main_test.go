package config_test

import (
	"os"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m)) }
