package simlog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// entry makes a line of process 1.
func entry(t int64, seq int, rpc, name, phase string, private string) simlog.Entry {
	return simlog.Entry{T: t, PID: 1, Seq: seq, RPC: rpc, Type: "sim_x", Name: name, Phase: phase, Private: []byte(private)}
}

func sample() simlog.Log {
	const open, renew, closed, apply = "OpenEphemeralResource", "RenewEphemeralResource", "CloseEphemeralResource", "ApplyResourceChange"
	return simlog.Log{
		entry(0, 1, open, "a", simlog.Begin, ""),
		entry(10, 1, open, "a", simlog.End, `{"lease":"L1"}`),
		entry(11, 2, open, "b", simlog.Begin, ""),
		entry(15, 2, open, "b", simlog.End, `{"lease":"L2"}`),
		entry(20, 3, apply, "x", simlog.Begin, ""),
		entry(25, 4, apply, "y", simlog.Begin, ""),
		entry(30, 3, apply, "x", simlog.End, ""),
		entry(31, 5, renew, "a", simlog.Begin, `{"lease":"L1","renewals":0}`),
		entry(32, 5, renew, "a", simlog.End, `{"lease":"L1","renewals":1}`),
		entry(40, 6, closed, "a", simlog.Begin, `{"lease":"L1","renewals":1}`),
		entry(41, 6, closed, "a", simlog.End, ""),
		entry(50, 4, apply, "y", simlog.End, ""),
		entry(60, 7, apply, "z", simlog.Begin, ""),
	}
}

func TestCalls(t *testing.T) {
	l := sample()
	calls := l.Calls(simlog.Filter{RPC: "ApplyResourceChange"})
	if len(calls) != 3 || calls[0].Duration() != 10 || calls[1].Duration() != 25 || !calls[2].Aborted() || !calls[2].Failed() {
		t.Errorf("calls: got %+v, want 3 that took 10, 25, and no end", calls)
	}
	if got := l.MaxConcurrency(simlog.Filter{RPC: "ApplyResourceChange"}); got != 2 {
		t.Errorf("MaxConcurrency: got %d, want 2", got)
	}
	if got := l.MaxConcurrency(simlog.Filter{Name: "a"}); got != 1 {
		t.Errorf("MaxConcurrency of calls one after the other: got %d, want 1", got)
	}
	want := map[string]int{"OpenEphemeralResource": 2, "RenewEphemeralResource": 1, "CloseEphemeralResource": 1, "ApplyResourceChange": 3}
	if diff := cmp.Diff(want, l.Counts()); diff != "" {
		t.Error(diff)
	}
	if got := l.Count(simlog.Filter{Type: "sim_x", Name: "b"}); got != 1 {
		t.Errorf("Count: got %d, want 1", got)
	}
}

func TestWindows(t *testing.T) {
	l := sample()
	ws := l.Windows()
	if len(ws) != 2 {
		t.Fatalf("windows: got %+v, want 2", ws)
	}
	if a := ws[0]; !a.Closed() || len(a.Renewals) != 1 || a.Length() != 30*time.Nanosecond {
		t.Errorf("window a: got %+v, want it closed, renewed once, of 30ns", a)
	}
	if b := ws[1]; b.Closed() || b.Length() != 0 {
		t.Errorf("window b: got %+v, want it open, of no length", b)
	}
	applies := l.Calls(simlog.Filter{RPC: "ApplyResourceChange"})
	if !ws[0].Covers(applies[0]) || ws[0].Covers(applies[1]) || !ws[1].Covers(applies[1]) {
		t.Error("Covers: x lies in both windows, y ends after a was closed")
	}
	if got := l.MaxOpen(); got != 2 {
		t.Errorf("MaxOpen: got %d, want 2", got)
	}
	if diff := cmp.Diff([]string{"sim_x.b: 0 closes"}, l.Unclosed()); diff != "" {
		t.Error(diff)
	}
}

func TestRead(t *testing.T) {
	whole := `{"rpc":"A","phase":"begin","seq":1}` + "\n" + `{"rpc":"A","phase":"end","seq":1,"err":"no"}` + "\n"
	l, err := simlog.Read(strings.NewReader(whole + `{"rpc":"B","ph`))
	if err != nil || len(l) != 2 {
		t.Fatalf("torn last line: got %d entries, %v, want 2", len(l), err)
	}
	if got, want := l.Transcript(simlog.Filter{}), "> A\n< A: error\n"; got != want {
		t.Errorf("Transcript: got %q, want %q", got, want)
	}
	if _, err := simlog.Read(strings.NewReader("nonsense\n" + whole)); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a malformed line: %v", err)
	}
	if l, err := simlog.ReadFile(t.TempDir() + "/none"); err != nil || len(l) != 0 {
		t.Errorf("no file: got %v, %v, want no entries", l, err)
	}
}

// TestReader has a transcript grow between the looks at it, in the middle of a line too.
func TestReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := simlog.NewReader(path)
	if l, err := r.Read(); err != nil || len(l) != 0 {
		t.Errorf("no file: got %v, %v, want no entries", l, err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var first simlog.Log
	for i, part := range []string{`{"rpc":"A"}` + "\n" + `{"rp`, `c":"B"}` + "\n", "", `{"rpc":"C"}` + "\n"} {
		if _, err := f.WriteString(part); err != nil {
			t.Fatal(err)
		}
		l, err := r.Read()
		if want, whole := []int{1, 2, 2, 3}[i], readAll(t, path); err != nil || len(l) != want || !cmp.Equal(l, whole) {
			t.Errorf("after part %d: %v, %v, want the %d entries %v", i, l, err, want, whole)
		}
		if i == 0 {
			first = append(l, simlog.Entry{RPC: "other"})
		}
	}
	if first[1].RPC != "other" {
		t.Error("an entry that was read later is in the result of an earlier call")
	}
	if _, err := f.WriteString("nonsense\n"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Read(); err == nil || !strings.Contains(err.Error(), "line 4") {
			t.Errorf("a malformed line: %v", err)
		}
	}
}

func readAll(t *testing.T, path string) simlog.Log {
	t.Helper()
	l, err := simlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
