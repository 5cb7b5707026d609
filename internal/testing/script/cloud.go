package script

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

func cloudDir(ts *testscript.TestScript) string { return ts.Getenv(simcloud.EnvDir) }

func objects(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: objects [type/name...]")
	}
	list, err := simcloud.Objects(cloudDir(ts))
	ts.Check(err)
	var got []string
	for _, o := range list {
		got = append(got, o.Type+"/"+o.Name)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(args))
	if !slices.Equal(got, want) {
		ts.Fatalf("the cloud has [%s], not [%s]", strings.Join(got, " "), strings.Join(want, " "))
	}
}

func drift(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || !json.Valid([]byte(args[2])) {
		ts.Fatalf("usage: drift id attribute json")
	}
	o, err := simcloud.ReadObject(cloudDir(ts), args[0])
	ts.Check(err)
	o.Attrs[args[1]] = json.RawMessage(args[2])
	ts.Check(simcloud.WriteObject(cloudDir(ts), o))
}

func vanish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: vanish id")
	}
	ts.Check(os.Remove(simcloud.ObjectPath(cloudDir(ts), args[0])))
}

func noLeases(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: noleases [number]")
	}
	for _, number := range args {
		calls(ts, false, []string{"OpenEphemeralResource", number})
		calls(ts, false, []string{"CloseEphemeralResource", number})
	}
	open, err := simcloud.OpenLeases(cloudDir(ts))
	ts.Check(err)
	if len(open) > 0 {
		ts.Fatalf("still open: %s", strings.Join(open, ", "))
	}
}

// transcript returns the calls that the provider has served since they were last forgotten.
func transcript(ts *testscript.TestScript) simlog.Log {
	log, err := simlog.ReadFile(ts.Getenv(simcloud.EnvLog))
	ts.Check(err)
	return log
}

func calls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: calls method number")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := transcript(ts).Count(simlog.Filter{RPC: args[0]}); got != want {
		ts.Fatalf("the provider served %d calls of %s, not %d", got, args[0], want)
	}
}

func forget(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: forget")
	}
	if err := os.Remove(ts.Getenv(simcloud.EnvLog)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await method name")
	}
	begun := func(e simlog.Entry) bool { return e.RPC == args[0] && e.Name == args[1] && e.Phase == simlog.Begin }
	for range 1500 {
		if slices.ContainsFunc(transcript(ts), begun) {
			return
		}
		time.Sleep(20 * time.Millisecond) // a process of its own makes the call; there is nothing else to wait for
	}
	ts.Fatalf("%s of %s was not called", args[0], args[1])
}

// order checks that the transcript has the given entries, in the given order, among others. Each is
// METHOD:NAME for the begin of a call, or METHOD:NAME:end for its end.
func order(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: order method:name[:end]...")
	}
	entries := transcript(ts)
	for i, arg := range args {
		at := slices.IndexFunc(entries, func(e simlog.Entry) bool {
			text := e.RPC + ":" + e.Name
			if e.Phase == simlog.End {
				text += ":end"
			}
			return text == arg
		})
		if at < 0 && i == 0 {
			ts.Fatalf("the provider did not see %s", arg)
		}
		if at < 0 {
			ts.Fatalf("the provider did not see %s after %s", arg, args[i-1])
		}
		entries = entries[at+1:]
	}
}
