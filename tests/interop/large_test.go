package interop

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

// TestLargeStates logs what commands cost with a state of as many instances as the variable
// MAYFLY_TEST_INSTANCES says, in each kind of backend: seconds, seconds of processor time, and megabytes that
// pass the loopback interface, which should have no other traffic.
func TestLargeStates(t *testing.T) {
	n := os.Getenv("MAYFLY_TEST_INSTANCES")
	if n == "" {
		t.Skip("MAYFLY_TEST_INSTANCES does not say how many instances a large state has")
	}
	for _, kind := range services.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			dir, server := t.TempDir(), kind.Start(t)
			filetest.Lay(t, dir, map[string]string{"main.tf": server.Block("large") + "variable \"v\" {}\nresource \"terraform_data\" \"a\" {\n  count = " + n + "\n  input = \"${count.index < 10 ? var.v : 0} ${count.index}\"\n}\n"})
			ours := engine{"mayfly", binary}
			ours.apply(t, dir, "-var=v=0")
			version := 0
			for _, e := range []engine{ours, {"tofu", os.Getenv(envTofu)}} {
				if e.path == "" || e.name == "tofu" && slices.Contains(services.Own, kind.Name) {
					continue
				}
				e.must(t, 0, dir, "init", "-reconfigure", "-no-color")
				version++
				t.Log(e.name, "plan:", e.cost(t, dir, "plan", fmt.Sprintf("-var=v=%d", version)))
				t.Log(e.name, "apply of 10 changes:", e.cost(t, dir, "apply", "-auto-approve", fmt.Sprintf("-var=v=%d", version)))
				t.Log(e.name, "plan without changes:", e.cost(t, dir, "plan", fmt.Sprintf("-var=v=%d", version)))
			}
		})
	}
}

// cost runs a command, and says what it has cost.
func (e engine) cost(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(e.path, append(args, "-no-color", "-input=false")...)
	cmd.Dir = dir
	sent, began := loopback(t), time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", e.name, err, out)
	}
	took := time.Since(began)
	return fmt.Sprintf("%.2f s, CPU %.2f s, %.1f MB", took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(loopback(t)-sent)/1e6)
}

// loopback returns how many bytes the loopback interface has received; 0 where the system does not say.
func loopback(t *testing.T) int {
	t.Helper()
	text, _ := os.ReadFile("/proc/net/dev")
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "lo:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
