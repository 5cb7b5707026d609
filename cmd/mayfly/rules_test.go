package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/script"
)

// rulesDir has scripts that show each rule of ephemerality with the whole program: by the output of commands
// and by the files that these leave.
const rulesDir = "testdata/rules"

// ruleIDs are the ids of the rules of ephemerality. Those about the test command come with that command.
var ruleIDs = []string{
	"E1", "E2", "E3", "E4", "E5", "E6", "E7", // variables
	"E10", "E11", "E12", "E13", "E14", // outputs
	"E20", "E21", "E22", "E23", "E24", // locals and marks
	"E30", "E31", "E32", "E33", "E34", "E35", // the block
	"E40", "E41", "E42", "E43", "E44", "E45", // opening
	"E50", "E51", "E52", "E53", "E54", "E55", // renewing and closing
	"E60", "E61", "E62", "E63", "E64", "E65", // write-only attributes
	"E70", "E71", "E72", // providers, provisioners, connections
	"E80", "E81", "E82", "E83", "E84", "E90", "E91", "E92", "E93", "E94", "E95", "E96", "E97", "E98", "E99", // what people and programs see
	"E100", // versions of write-only arguments
}

// TestRulesE1ToE100 runs one or more scripts for each rule of ephemerality. A script's name begins with the
// ids of the rules that it shows.
func TestRulesE1ToE100(t *testing.T) { script.Run(t, rulesDir) }

var oneRuleID = regexp.MustCompile(`E\d+`)

// TestEveryRuleE1ToE100HasAScript fails if a rule has no script, or a script names a rule that there is none
// of.
func TestEveryRuleE1ToE100HasAScript(t *testing.T) {
	files, err := os.ReadDir(rulesDir)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, f := range files {
		ids := oneRuleID.FindAllString(f.Name(), -1)
		if len(ids) == 0 {
			t.Errorf("%s names no rule", f.Name())
		}
		for _, id := range ids {
			shown[id] = true
			if !slices.Contains(ruleIDs, id) {
				t.Errorf("%s names %s, which is no rule", f.Name(), id)
			}
		}
	}
	for _, id := range ruleIDs {
		if !shown[id] {
			t.Errorf("no script shows rule %s", id)
		}
	}
}
