package main

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/script"
)

func TestMain(m *testing.M) { script.Main(m, map[string]func(){"mayfly": main}) }

func TestScripts(t *testing.T) { script.Run(t, "testdata/script") }
