package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
)

var built map[string]string

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) (err error) {
		if built, err = program.Build(dir, "cmd/mayfly", "benchmarks"); err == nil {
			err = program.Isolate(dir)
		}
		return err
	})
}

// run runs the benchmarks and returns the rows of their table as maps from the heads of the columns.
func run(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	cmd := exec.Command(built["benchmarks"], append([]string{"-binary", built["cmd/mayfly"], "-dir", t.TempDir()}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr.String(), out)
	}
	return parse(t, string(out))
}

// parse reads the table.
func parse(t *testing.T, out string) []map[string]string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) < 3 {
		t.Fatalf("there is no table:\n%s", out)
	}
	head := cells(lines[0])
	var rows []map[string]string
	for _, line := range lines[2:] {
		row := map[string]string{}
		for i, cell := range cells(line) {
			row[head[i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func cells(line string) []string {
	list := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range list {
		list[i] = strings.TrimSpace(c)
	}
	return list
}

func unix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin counts on Unix systems only")
	}
}

// TestEveryShape runs all shapes at a small size, with both kinds of resources.
func TestEveryShape(t *testing.T) {
	t.Parallel()
	unix(t)
	names := map[string]int{}
	for _, row := range run(t, "-n", "5", "-shape", "[^sp]") {
		names[row["work"]]++
		if s, err := strconv.ParseFloat(row["CPU s"], 64); err != nil || s < 0 {
			t.Errorf("%v: no processor time", row)
		}
		if row["with"] == "plugin" && (row["calls"] == "" || row["processes"] != "1") {
			t.Errorf("%v: got %q calls and %q processes, want the plugin called, and one of it", row, row["calls"], row["processes"])
		}
	}
	for _, name := range []string{"for_each", "count", "chained", "independent", "wide", "modules", "locals", "module-keys", "module-map", "lookup", "module-lookup", "triggers", "depends_on", "large"} {
		if want := 4 * 2; names[name] != want { // commands, kinds
			t.Errorf("%s has %d rows, want %d", name, names[name], want)
		}
	}
}

// TestCallsPerInstance holds the number of provider calls: what one more instance costs in each command.
func TestCallsPerInstance(t *testing.T) {
	t.Parallel()
	unix(t)
	rows := run(t, "-n", "10,30", "-shape", "independent", "-kind", "plugin")
	calls := map[string][]int{}
	for _, row := range rows {
		n, err := strconv.Atoi(row["calls"])
		if err != nil {
			t.Fatalf("%v: %v", row, err)
		}
		calls[row["command"]] = append(calls[row["command"]], n)
	}
	// Validate and plan; the same, plan again with final values, and apply; validate, read and plan;
	// validate, read and plan the destruction, and apply it.
	for command, want := range map[string]int{"plan": 2, "apply": 4, "no-op": 3, "destroy": 4} {
		if got := calls[command]; len(got) != 2 || got[1]-got[0] != 20*want {
			t.Errorf("%s: %v calls for 10 and 30 instances, want %d for each", command, got, want)
		}
	}
}

// TestEngines has the program compared with itself and with another one.
func TestEngines(t *testing.T) {
	t.Parallel()
	unix(t)
	told := filepath.Join(t.TempDir(), "told")
	rows := run(t, "-shape", "start", "-vs", built["cmd/mayfly"]+","+engine(t, `printf %s "$BENCH_COUNTS" >`+told))
	counts, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(counts)); len(counts) == 0 || err == nil {
		t.Errorf("the directory %q for the counts is left", counts)
	}
	if len(rows) != 3 || rows[0]["engine"] != built["cmd/mayfly"] || rows[2]["engine"] != "engine" || rows[2]["times wall"] == "" || rows[0]["times"] != "" || rows[1]["times"] == "" || rows[1]["times wall"] == "" || rows[0]["target"] == "" || rows[1]["target"] != "" {
		t.Errorf("got the rows %v, want the built engine twice, with and without a target, and then the other with its factors", rows)
	}
}

// TestSchemaSizes checks that jobs that are not shapes take sizes, and that the second plan has the
// schemas from the cache.
func TestSchemaSizes(t *testing.T) {
	t.Parallel()
	unix(t)
	rows := run(t, "-shape", "schema", "-n", "20,40")
	if len(rows) != 4 || rows[0]["n"] != "20" || rows[3]["n"] != "40" || rows[0]["growth"] != "" || !strings.HasSuffix(rows[3]["growth"], " for 2") {
		t.Fatalf("got the rows %v, want 4, of the sizes 20 and 40, with the growth in the last", rows)
	}
	for i, least := range map[int]float64{0: 500, 2: 1000} {
		first, err := strconv.ParseFloat(rows[i]["wire kB"], 64)
		again, err2 := strconv.ParseFloat(rows[i+1]["wire kB"], 64)
		if err != nil || err2 != nil || first < least || again > 100 {
			t.Errorf("%s kB at first and %s kB again, want at least %.0f and at most 100", rows[i]["wire kB"], rows[i+1]["wire kB"], least)
		}
	}
}

// engine is a program that runs a shell script for its command.
func engine(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFailingEngine has an engine that cannot apply beside one that can: the table goes on.
func TestFailingEngine(t *testing.T) {
	t.Parallel()
	unix(t)
	args := []string{"-binary", built["cmd/mayfly"], "-vs", engine(t, `[ "$1" != apply ] || { echo cannot apply >&2; exit 1; }`), "-dir", t.TempDir(), "-n", "5", "-shape", "count|independent", "-kind", "terraform_data"}
	cmd := exec.Command(built["benchmarks"], args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil || !strings.Contains(stderr.String(), "cannot apply") || !strings.Contains(stderr.String(), "commands that have failed: 2") {
		t.Errorf("error %v: %s", err, stderr.String())
	}
	rows := parse(t, string(out))
	if len(rows) != 2*4*2 { // shapes, commands, engines
		t.Fatalf("got %d rows, want %d:\n%s", len(rows), 2*4*2, out)
	}
	for _, row := range rows {
		want := row["engine"] == "mayfly" || row["command"] == "plan"
		if _, err := strconv.ParseFloat(row["CPU s"], 64); (err == nil) != want {
			t.Errorf("%v: figures: %t, want %t", row, err == nil, want)
		}
	}
}

// TestTimeout checks that what an engine has started ends with it: here a process that would write a file
// later, and holds the engine's output open.
func TestTimeout(t *testing.T) {
	t.Parallel()
	unix(t)
	mark := filepath.Join(t.TempDir(), "mark")
	slow := engine(t, "(sleep 60; echo >"+mark+") & echo $! >"+mark+".pid; wait")
	begin := time.Now()
	out, err := exec.Command(built["benchmarks"], "-binary", slow, "-dir", t.TempDir(), "-shape", "start", "-timeout", "2s").Output()
	if err != nil || !strings.Contains(string(out), "over ") {
		t.Errorf("error %v:\n%s", err, out)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s: the process that the engine had started was waited for", took)
	}
	pid, err := os.ReadFile(mark + ".pid")
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() == nil {
		if status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/status"); err != nil || !strings.Contains(string(status), "Z (zombie)") {
			t.Errorf("the process that the engine had started still runs: %s", status)
		}
	}
}

// TestSecrets checks that the time for which ephemeral instances are open is measured.
func TestSecrets(t *testing.T) {
	t.Parallel()
	unix(t)
	rows := run(t, "-shape", "password")
	if len(rows) != 2 || rows[1]["open s"] == "" {
		t.Fatalf("got the rows %v, want 2, the second with times of opening", rows)
	}
	open, err := strconv.ParseFloat(rows[1]["open s"], 64)
	wall, err2 := strconv.ParseFloat(rows[1]["wall s"], 64)
	const rest = 5 // seconds at least that the work before and after takes
	if err != nil || err2 != nil || open < 0.9 || wall-open < rest {
		t.Errorf("the password was open for %s s of %s s, want about one second", rows[1]["open s"], rows[1]["wall s"])
	}
	if target := rows[1]["target"]; !strings.Contains(target, "1.1 s open") || !strings.Contains(target, "1 process") {
		t.Errorf("the target is %q", target)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no engine":    {},
		"no program":   {"-binary", "/nonexistent/engine"},
		"no size":      {"-binary", built["cmd/mayfly"], "-n", "many"},
		"unknown kind": {"-binary", built["cmd/mayfly"], "-kind", "other"},
		"bad shape":    {"-binary", built["cmd/mayfly"], "-shape", "("},
	} {
		out, err := exec.Command(built["benchmarks"], args...).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "benchmarks: ") {
			t.Errorf("%s: error %v, output %q", name, err, out)
		}
	}
}
