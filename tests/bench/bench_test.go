package bench

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/tests/internal/program"
)

var built map[string]string

func TestMain(m *testing.M) {
	program.Main(m, "bench", func(dir string) (err error) {
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
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
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
	unix(t)
	names := map[string]int{}
	for _, row := range run(t, "-n", "20", "-shape", "[^sp]") {
		names[row["work"]]++
		if s, err := strconv.ParseFloat(row["CPU s"], 64); err != nil || s < 0 {
			t.Errorf("%v: no processor time", row)
		}
		if row["with"] == "plugin" && (row["calls"] == "" || row["processes"] != "1") {
			t.Errorf("%v: the plugin was not called, or not one of it", row)
		}
	}
	for _, name := range []string{"for_each", "count", "chained", "independent", "wide", "modules", "locals", "module-keys", "module-map", "depends_on", "large"} {
		if want := 4 * 2; names[name] != want { // commands, kinds
			t.Errorf("%s has %d rows, want %d", name, names[name], want)
		}
	}
}

// TestCallsPerInstance holds the number of provider calls: what one more instance costs in each command.
func TestCallsPerInstance(t *testing.T) {
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
	// Validate and plan; the same, plan again with final values, and apply; validate, read and plan; read and plan the destruction, and apply it.
	for command, want := range map[string]int{"plan": 2, "apply": 4, "no-op": 3, "destroy": 3} {
		if got := calls[command]; len(got) != 2 || got[1]-got[0] != 20*want {
			t.Errorf("%s: %v calls for 10 and 30 instances, want %d for each", command, got, want)
		}
	}
}

// TestTwoEngines has the program compared with itself.
func TestTwoEngines(t *testing.T) {
	rows := run(t, "-shape", "start", "-vs", built["cmd/mayfly"])
	if len(rows) != 2 || rows[0]["times"] != "" || rows[1]["times"] == "" {
		t.Errorf("rows: %v", rows)
	}
}

// TestSecrets checks that the time for which ephemeral instances are open is measured.
func TestSecrets(t *testing.T) {
	unix(t)
	rows := run(t, "-shape", "password")
	if len(rows) != 2 || rows[1]["open s"] == "" {
		t.Fatalf("rows: %v", rows)
	}
	// It is opened for planning and for applying, and the mean is shown.
	if open, err := strconv.ParseFloat(rows[1]["open s"], 64); err != nil || open < 0.4 || open > 3 {
		t.Errorf("the password was open for %s s on average, want about half a second", rows[1]["open s"])
	}
}

func TestRefusals(t *testing.T) {
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
