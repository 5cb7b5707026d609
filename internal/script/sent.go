package script

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-iac/mayfly/internal/simprovider/simlog"
)

// sent checks what calls brought to the provider in a sensitive or write-only attribute. WHERE is
// ROLE.ATTRIBUTE, with the role config, prior, proposed or planned; each text is that of one value, or null,
// or unknown, or "any" for a value that is none of the others. Every call of the method for the object must
// have the values in this order; an attribute of objects that are not there at all is "absent".
func sent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: sent method:name role.attribute text...")
	}
	method, name, _ := strings.Cut(args[0], ":")
	found := 0
	for _, e := range transcript(ts) {
		if e.RPC != method || e.Name != name || e.Phase != simlog.Begin {
			continue
		}
		found++
		got := []string{"absent"}
		if list, ok := e.Hash[args[1]]; ok {
			got = strings.Split(list, ",")
		}
		if !slices.EqualFunc(got, args[2:], matches) {
			ts.Fatalf("%s of %s no. %d was sent %q in %s, not the values %q", method, name, found, got, args[1], args[2:])
		}
	}
	if found == 0 {
		ts.Fatalf("the provider did not see %s", args[0])
	}
}

// matches says whether what the transcript has is the value that a script asks for.
func matches(got, want string) bool {
	switch want {
	case "null", "unknown", "absent":
		return got == want
	case "any":
		return got != "null" && got != "unknown" && got != "absent"
	}
	return got == simlog.Hash(want)
}
