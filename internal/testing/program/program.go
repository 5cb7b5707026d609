// Package program builds the programs of this module for tests that start them as real processes, and lays
// out mirrors with providers.
//
// It imports the standard library only. It must not know the work of the programs: the tests see them from
// outside, as users do.
package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// module is the path prefix of the packages that Build accepts.
const module = "github.com/mayfly-iac/mayfly/"

// parallel is how many tests with processes run at once per processor: they mostly wait.
const parallel = 3

// Main runs a package's tests and ends the process. Before, it calls prepare with a new directory for the
// tests. It is for TestMain.
func Main(m interface{ Run() int }, prepare func(dir string) error) {
	os.Exit(Within(func(dir string) int {
		err := prepare(dir)
		if err == nil {
			err = RaiseParallel()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}))
}

// RaiseParallel lets more tests run at once than there are processors, unless -parallel is given.
func RaiseParallel() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(parallel*runtime.GOMAXPROCS(0)))
}

// Build compiles commands of this module, given by their directories such as "cmd/mayfly", for tests with
// temporary files in dir. The commands save the effort of slow hashes. Build returns the paths of the
// executables by directory; the error contains the compiler's output.
func Build(dir string, folders ...string) (map[string]string, error) {
	out := map[string]string{}
	for _, folder := range folders {
		path := placed(dir, filepath.Base(folder))
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		if err := run(folder, compile(path, module+folder)); err != nil {
			return nil, err
		}
		out[folder] = path
	}
	return out, nil
}

// original is the environment of go: that before Isolate, since with another home directory, go would compile
// and download everything anew. A fifth of the time in which go finds that nothing is to be done is spent on
// collecting garbage, unless that is rare.
var original = append([]string{"GOGC=400"}, os.Environ()...)

// options are the options with which programs are built. Without symbols for debuggers, linking takes a third
// less time. All packages share one mayfly, and no test that starts it is about slow hashes.
const options = "-ldflags=-s -w -X=" + module + "internal/base/effort.saved=yes"

// BuildOverlay compiles a command to path as Build does, but with the source files that a file for the option
// -overlay of go build has in place of others. Those packages that the overlay changes, and those that import
// them, are compiled for this program alone. The folders of the large ones among them are compiled without
// optimization, which takes half the time.
func BuildOverlay(path, overlay, folder string, large ...string) error {
	pkg := []string{"-overlay=" + overlay}
	for _, l := range large {
		pkg = append(pkg, "-gcflags="+module+l+"=-N -l -dwarf=false")
	}
	return run(folder, compile(path, append(pkg, module+folder)...))
}

// Name makes an executable available under names, by which it knows its role, for tests with temporary
// files in dir. It returns the directory with the names. They are of a copy: a linker writes its file in an
// order that the system keeps in small pieces.
func Name(dir, executable string, names ...string) (string, error) {
	bin := placed(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	first := filepath.Join(bin, names[0])
	if err := copyFile(first, executable); err != nil {
		return "", err
	}
	for _, name := range names[1:] {
		if err := os.Link(first, filepath.Join(bin, name)); err != nil {
			return "", err
		}
	}
	return bin, nil
}

func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// run runs go while no other package's tests do: go shares the programs that it has compiled, but two that
// compile the same one at once both do all of it.
func run(folder string, goArgs []string) error {
	defer alone()()
	cmd := exec.Command("go", goArgs...)
	cmd.Env = original
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", folder, err, text)
	}
	return nil
}

// compile returns the arguments with which go builds an executable at path from a package, which may follow
// other options. Linking takes seconds, and only go run caches the executable for the next package's tests.
// The program that it runs here copies it.
func compile(path string, pkg ...string) []string {
	if runtime.GOOS == "windows" {
		return append([]string{"build", options, "-o", path}, pkg...)
	}
	return append(append([]string{"run", "-exec=cp", options}, pkg...), path)
}

// Prepared has the paths of the files that Prepare makes.
type Prepared struct {
	Mayfly, Provider string // executables
	Mirror           string // a filesystem mirror with the test provider
}

// TestProvider is the directory of the test provider's command.
const TestProvider = "internal/testing/simprovider/cmd/terraform-provider-sim"

// Prepare builds the program and the test provider in dir, isolates this process from the user's settings,
// and makes a mirror with the provider under source, in these versions.
func Prepare(dir, source string, versions ...string) (Prepared, error) {
	built, err := Build(dir, "cmd/mayfly")
	if err != nil {
		return Prepared{}, err
	}
	provider, err := Build(dir, TestProvider)
	if err != nil {
		return Prepared{}, err
	}
	p := Prepared{Mayfly: built["cmd/mayfly"], Provider: provider[TestProvider], Mirror: filepath.Join(dir, "mirror")}
	starter, err := startedBy(dir, p.Provider)
	if err != nil {
		return p, err
	}
	for _, v := range versions {
		if _, err := Mirror(p.Mirror, source, v, starter); err != nil {
			return p, err
		}
	}
	return p, Isolate(dir)
}

// startedBy returns the path of a script in dir that becomes the executable, for mirrors: every run of a
// program hashes the providers in them. On Windows, which has no such scripts, it is the executable itself.
func startedBy(dir, executable string) (string, error) {
	if runtime.GOOS == "windows" {
		return executable, nil
	}
	path := filepath.Join(dir, "start")
	return path, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec '%s' \"$@\"\n", executable), 0o755)
}

// Isolate removes everything of the user's from this process's environment: settings, variables, and the
// home directory, which becomes one in dir. Programs collect garbage less often than usual, since most of
// them end before it pays, and talk to plugins without encryption: keys and certificates take a third of the
// time of a short command.
func Isolate(dir string) error {
	home, settings := filepath.Join(dir, "home"), filepath.Join(dir, "settings.tfrc")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "TF_") || strings.HasPrefix(name, "KEEP_") || strings.HasPrefix(name, "SIM_") {
			os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "TF_CLI_CONFIG_FILE": settings, "GOGC": "400", "TF_DISABLE_PLUGIN_TLS": "1"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Mirror creates a filesystem mirror in dir with a provider's executable, under host/namespace/type, and
// returns dir.
func Mirror(dir, source, version, executable string) (string, error) {
	parts := strings.Split(source, "/")
	if len(parts) != 3 {
		return "", fmt.Errorf("%q is not of the form host/namespace/type", source)
	}
	at := filepath.Join(dir, filepath.FromSlash(source), version, runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return "", err
	}
	src, err := os.ReadFile(executable)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("terraform-provider-%s_v%s%s", parts[2], version, filepath.Ext(executable))
	return dir, os.WriteFile(filepath.Join(at, name), src, 0o755)
}
