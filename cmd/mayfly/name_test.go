package main

import (
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/diag"
)

// TestCommandNames holds the names by which commands in texts are found against the table of commands.
func TestCommandNames(t *testing.T) {
	var want []string
	for _, c := range newApp(environment{}).root().Commands {
		want = append(want, c.Name)
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(commandNames)); !slices.Equal(got, want) {
		t.Errorf("the names: got %q, want %q", got, want)
	}
}

// TestCommandsByName writes commands with the name by which the program was called, and nothing else.
func TestCommandsByName(t *testing.T) {
	for called, want := range map[string]string{
		"": "mayfly", "mayfly": "mayfly", "/usr/bin/mayfly": "mayfly", "./tofu": "tofu", "/opt/terraform": "terraform",
		"Terraform.EXE": "Terraform", "/a b/my engine": "'my engine'",
	} {
		if got := (environment{Called: called}).command(); got != want {
			t.Errorf("%q: the command: got %s, want %s", called, got, want)
		}
	}
	e := environment{Called: "/usr/bin/tofu"}
	for text, want := range map[string]string{
		"Run: mayfly init":                                 "Run: tofu init",
		`Run "mayfly init" or "mayfly apply -x".`:          `Run "tofu init" or "tofu apply -x".`,
		"Run:\n  mayfly plan\n  mayfly state list\nmayfly": "Run:\n  tofu plan\n  tofu state list\nmayfly",
		"run: mayfly <command> -help":                      "run: tofu <command> -help",
		"use: mayfly -install-autocomplete":                "use: tofu -install-autocomplete",
		"Usage: mayfly [global options] plan":              "Usage: tofu [global options] plan",
		"Mayfly plans, and mayfly plan is a command":       "Mayfly plans, and mayfly plan is a command",
		`"mayfly" and "mayfly planned"`:                    `"mayfly" and "mayfly planned"`,
		"x: mayfly/init and github.com/mayfly init":        "x: mayfly/init and github.com/mayfly init",
	} {
		if got := e.commands(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	list := diag.Errorf(`Run "mayfly init"`, "Run: mayfly plan")
	if got := e.commandsIn(list); got[0].Summary != `Run "tofu init"` || got[0].Detail != "Run: tofu plan" || list[0].Detail != "Run: mayfly plan" {
		t.Errorf("diagnostic: got %v of %v, want the name tofu in the summary and the detail, and the first list unchanged", got, list)
	}
}
