package interop

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

const (
	envTofu   = "MAYFLY_TEST_TOFU"
	envMirror = "MAYFLY_TEST_MIRROR"
)

// binary is the program under test, and sim a mirror with the test provider.
var binary, sim string

func TestMain(m *testing.M) { program.Main(m, prepare) }

// prepare builds the programs and writes settings with which both engines find the same providers. Without
// the other engine, there is nothing to do.
func prepare(dir string) error {
	if os.Getenv(envTofu) == "" {
		return nil
	}
	const plugin = "cmd/terraform-provider-keep"
	built, err := program.Build(dir, plugin)
	if err != nil {
		return err
	}
	own, err := program.Prepare(dir, simcloud.Source, "0.1.0")
	if err != nil {
		return err
	}
	binary, sim = own.Mayfly, own.Mirror
	keep, err := program.Mirror(own.Mirror, "mayfly.dev/mayfly/keep", "0.1.0", built[plugin])
	if err != nil {
		return err
	}
	settings := "provider_installation {\n" + fmt.Sprintf("  filesystem_mirror {\n    path    = %q\n    include = [\"mayfly.dev/*/*\"]\n  }\n", keep)
	if others := os.Getenv(envMirror); others != "" {
		settings += fmt.Sprintf("  filesystem_mirror {\n    path    = %q\n    exclude = [\"mayfly.dev/*/*\"]\n  }\n", others)
	}
	return os.WriteFile(os.Getenv("TF_CLI_CONFIG_FILE"), []byte(settings+"}\n"), 0o600)
}

func tofu(t *testing.T) string {
	t.Helper()
	path := os.Getenv(envTofu)
	if path == "" {
		t.Skipf("there is no OpenTofu to compare with: set %s to its executable", envTofu)
	}
	return path
}

// engine is a program that understands the language and the files.
type engine struct{ name, path string }

// must runs a command in dir and returns what it printed; want is the exit status.
func (e engine) must(t *testing.T, want int, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(e.path, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		t.Fatalf("%s %s: got %v, want exit status %d:\n%s", e.name, strings.Join(args, " "), err, want, out)
	}
	return string(out)
}

// apply initialises and applies.
func (e engine) apply(t *testing.T, dir string, vars ...string) {
	t.Helper()
	e.must(t, 0, dir, "init", "-no-color", "-input=false")
	e.must(t, 0, dir, append([]string{"apply", "-no-color", "-input=false", "-auto-approve"}, vars...)...)
}

// unchanged initialises and finds nothing to do.
func (e engine) unchanged(t *testing.T, dir string, vars ...string) {
	t.Helper()
	e.must(t, 0, dir, "init", "-no-color", "-input=false")
	out := e.must(t, 0, dir, append([]string{"plan", "-no-color", "-input=false", "-detailed-exitcode"}, vars...)...)
	if !strings.Contains(out, "No changes.") {
		t.Errorf("%s does not say that there are no changes:\n%s", e.name, out)
	}
}

func (e engine) destroy(t *testing.T, dir string, vars ...string) {
	t.Helper()
	e.must(t, 0, dir, append([]string{"destroy", "-no-color", "-input=false", "-auto-approve"}, vars...)...)
	if left := strings.TrimSpace(e.must(t, 0, dir, "state", "list")); left != "" {
		t.Errorf("state after destroy by %s: got\n%s\nwant nothing", e.name, left)
	}
}

// bothWays runs the test with each engine as the first.
func bothWays(t *testing.T, f func(t *testing.T, first, second engine)) {
	t.Helper()
	a, b := engine{"mayfly", binary}, engine{"tofu", tofu(t)}
	for _, pair := range [][2]engine{{a, b}, {b, a}} {
		t.Run(pair[0].name+" then "+pair[1].name, func(t *testing.T) { f(t, pair[0], pair[1]) })
	}
}
