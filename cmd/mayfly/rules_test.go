package main

import (
	"testing"

	"github.com/mayfly-iac/mayfly/internal/script"
)

// TestRulesE1ToE84 runs one or more scripts for each rule of ephemerality. A script's name begins with the ids of the rules that it shows.
func TestRulesE1ToE84(t *testing.T) { script.Run(t, "testdata/rules") }
