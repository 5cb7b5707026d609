package script

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// sent checks the values of sensitive or write-only attributes that calls brought to the provider. WHERE is
// ROLE.ATTRIBUTE, with the role config, prior, proposed or planned; each text is the text of one value, or
// null, or unknown, or "any" for a value that is none of the others. Every call of the method for the object
// must have the values in this order; an attribute of objects that are not there at all is "absent". With the
// attribute "*", each value in the role must be the text. With a role alone, the text is the name of a file
// whose lines each have an attribute and its texts.
func sent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: sent method:name role.attribute text... | sent method:name role.* text | sent method:name role file")
	}
	role, attr, one := strings.Cut(args[1], ".")
	entries := begun(ts, args[0])
	switch {
	case attr == "*":
		sentEverywhere(ts, entries, role, args[2])
	case one:
		sentIn(ts, entries, args[1], args[2:])
	default:
		for line := range strings.Lines(ts.ReadFile(args[2])) {
			attr, texts, _ := strings.Cut(strings.TrimSpace(line), " ")
			sentIn(ts, entries, role+"."+attr, strings.Split(texts, " | "))
		}
	}
}

// begun returns the calls of a method for an object.
func begun(ts *testscript.TestScript, call string) []simlog.Entry {
	method, name, _ := strings.Cut(call, ":")
	other := func(e simlog.Entry) bool { return e.RPC != method || e.Name != name || e.Phase != simlog.Begin }
	entries := slices.DeleteFunc(transcript(ts), other)
	if len(entries) == 0 {
		ts.Fatalf("the provider did not see %s", call)
	}
	return entries
}

func sentIn(ts *testscript.TestScript, entries []simlog.Entry, where string, texts []string) {
	for i, e := range entries {
		got := []string{"absent"}
		if list, ok := e.Hash[where]; ok {
			got = strings.Split(list, ",")
		}
		if !slices.EqualFunc(got, texts, matches) {
			ts.Fatalf("%s of %s no. %d was sent %q in %s, not the values %q", e.RPC, e.Name, i+1, got, where, texts)
		}
	}
}

func sentEverywhere(ts *testscript.TestScript, entries []simlog.Entry, role, text string) {
	for i, e := range entries {
		found := false
		for where, list := range e.Hash {
			if !strings.HasPrefix(where, role+".") {
				continue
			}
			found = true
			for got := range strings.SplitSeq(list, ",") {
				if !matches(got, text) {
					ts.Fatalf("%s of %s no. %d was sent %q in %s, not %s", e.RPC, e.Name, i+1, got, where, text)
				}
			}
		}
		if !found {
			ts.Fatalf("%s of %s no. %d was sent nothing in %s", e.RPC, e.Name, i+1, role)
		}
	}
}

// matches reports whether a value in the transcript is the one that a script asks for.
func matches(got, want string) bool {
	switch want {
	case "null", "unknown", "absent":
		return got == want
	case "any":
		return got != "null" && got != "unknown" && got != "absent"
	}
	return got == simlog.Hash(want)
}
