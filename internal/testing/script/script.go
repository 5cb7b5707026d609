// Package script runs command line scripts in tests: txtar files whose programs are the test binary itself,
// with a private working directory, a mirror that has the test provider in two versions, a simulated cloud,
// and commands to look at the actions and the remains of a run.
//
// The mirror has it as mayfly.dev/test/sim and as hashicorp/sim, which a configuration without
// required_providers means.
//
// A package with scripts calls Main in TestMain and Run in a test. In a script, besides testscript's own
// commands:
//
//   - nosecret TEXT...: none of the texts stands, verbatim or in a usual encoding, in any file below the
//     working directory, nor in the last output. Files that the script itself brought are not searched.
//   - objects [LINE...]: the simulated cloud has exactly these objects, each written TYPE/NAME.
//   - drift ID ATTRIBUTE VALUE: changes an attribute (VALUE is JSON) of an object in the cloud, as a person
//     else would.
//   - vanish ID: removes an object from the cloud.
//   - noleases [N]: every ephemeral that was opened has been closed. With a number, so many were opened since
//     the last "forget", and each was closed once.
//   - calls METHOD N: the provider has served N calls of the method since the last "forget".
//   - forget: empties the transcript of provider calls.
//   - order METHOD:NAME[:end]...: the transcript has the begins (or ends) of these calls, in this order,
//     among others. NAME is the object's.
//   - registry [WORD...]: starts registries that have the test provider, and sets up clients of them; see the
//     function registry for the words.
//   - sent METHOD:NAME ROLE.ATTRIBUTE TEXT...: every call of the method for the object brought these values,
//     TEXT being one, or null, unknown, absent or any.
//   - await METHOD NAME: waits until a call of the method for the object has begun, for half a minute at
//     most.
//
// The environment has EXAMPLES, the folder of the project's examples, for packages two levels below the
// module's root, and COLUMNS=0, so that messages are on one line. A script about line breaks sets "env
// COLUMNS=".
//
// It may import testscript and packages simcloud, registrytest and secretscan. It must not know the
// programs that it runs.
package script

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest/checker"
	"github.com/mayfly-iac/mayfly/internal/testing/secretscan"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// envUpdate, if set when tests run, rewrites expected output in the scripts.
const envUpdate = "UPDATE_SCRIPTS"

// versions are the versions of the test provider in the mirror.
var versions = []string{"1.0.0", "1.1.0"}

// impliedSource is the source of the test provider in modules without required_providers.
const impliedSource = "registry.opentofu.org/hashicorp/sim"

// Main is the body of a TestMain: programs are the commands that scripts may use, by name.
func Main(m *testing.M, programs map[string]func()) {
	testscript.Main(tests{m, slices.Sorted(maps.Keys(programs))}, programs)
}

// tests are the tests of a package with scripts, which share the programs built for them.
type tests struct {
	m     *testing.M
	names []string // of the programs
}

// Run runs the tests and returns the exit status.
func (t tests) Run() int {
	return program.Within(func(dir string) int {
		if err := t.prepare(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() {
			if checkerInput != nil {
				_ = checkerInput.Close()
			}
		}()
		return t.m.Run()
	})
}

// prepare builds the programs that the tests share into dir.
func (t tests) prepare(dir string) error {
	buildSim = sync.OnceValues(func() (string, error) {
		built, err := program.Build(dir, program.TestProvider)
		return built[program.TestProvider], err
	})
	startChecker = sync.OnceValues(func() (string, error) { return runChecker(dir) })
	if runtime.GOOS != "windows" { // where Run skips all
		if err := t.namePrograms(dir); err != nil {
			return err
		}
	}
	return program.RaiseParallel()
}

// namePrograms has the programs of scripts found by their names.
func (t tests) namePrograms(dir string) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	bin, err := program.Name(dir, executable, t.names...)
	if err != nil {
		return err
	}
	return os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// buildSim returns the path of the test provider's program, which is built on the first call. Main sets it.
var buildSim func() (string, error)

// startChecker returns the socket of the process that checks documents for the programs, which the first call
// starts. Main sets it.
var startChecker func() (string, error)

// checkerInput is open as long as documents are checked; nil if none were.
var checkerInput io.Closer

// runChecker builds the process that checks documents in dir and starts it. It ends with this process.
func runChecker(dir string) (socket string, err error) {
	const folder = "internal/testing/schematest/cmd/schemachecker"
	built, err := program.Build(dir, folder)
	if err != nil {
		return "", err
	}
	socket = filepath.Join(dir, "checker")
	cmd := exec.Command(built[folder], socket)
	cmd.Stderr = os.Stderr
	if checkerInput, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	_, err = bufio.NewReader(out).ReadString('\n') // it listens
	return socket, err
}

// Run runs all scripts in a directory, each as a subtest.
func Run(t *testing.T, dir string) {
	if runtime.GOOS == "windows" {
		t.Skip("the provider in the mirror is a shell script")
	}
	mirror := t.TempDir()
	if err := BuildMirror(mirror, simcloud.Source, impliedSource); err != nil {
		t.Fatal(err)
	}
	socket, err := startChecker()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, UpdateScripts: os.Getenv(envUpdate) != "", RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error { return setUp(env, mirror, socket) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"nosecret": noSecret, "objects": objects, "drift": drift, "vanish": vanish, "noleases": noLeases, "calls": calls, "forget": forget,
			"await": await, "order": order, "registry": registry, "sent": sent,
		},
	})
}

// BuildMirror makes a filesystem mirror in dir, which has the test provider under each of the sources in all
// Versions. Its executables are scripts that start the provider, because every run of a program hashes them.
func BuildMirror(dir string, sources ...string) error {
	sim, err := buildSim()
	if err != nil {
		return err
	}
	for _, v := range versions {
		wrapper := fmt.Sprintf("#!/bin/sh\n# version %s\nexec '%s' \"$@\"\n", v, sim)
		for _, source := range sources {
			pkg := filepath.Join(dir, filepath.FromSlash(source), v, runtime.GOOS+"_"+runtime.GOARCH)
			if err := os.MkdirAll(pkg, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(pkg, "terraform-provider-sim_v"+v), []byte(wrapper), 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names of the files that the kit itself keeps in a working directory.
const (
	ownCloud = ".cloud"
	ownLog   = ".calls"
	ownHome  = ".home"
	ownTmp   = ".tmp"
)

func setUp(env *testscript.Env, mirror, checkerSocket string) error {
	brought, err := listFiles(env.WorkDir)
	if err != nil {
		return err
	}
	env.Values["brought"] = brought
	env.Values["registry"] = new(*registrytest.Server)
	home := filepath.Join(env.WorkDir, ownHome)
	for _, dir := range []string{home, filepath.Join(env.WorkDir, ownCloud)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	rc := filepath.Join(home, "cli.tfrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	if err := os.WriteFile(rc, []byte(text), 0o644); err != nil {
		return err
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		return err
	}
	env.Setenv(checker.Env, checkerSocket)
	env.Setenv("COLUMNS", "0")
	env.Setenv("EXAMPLES", examples)
	env.Setenv("HOME", home)
	env.Setenv("MAYFLY_SCHEMA_CACHE", "off") // the provider's schemas depend on its environment
	env.Setenv("MIRROR", mirror)
	env.Setenv("TF_CLI_CONFIG_FILE", rc)
	env.Setenv("GOGC", "400")                // short commands end before collecting garbage pays
	env.Setenv("TF_DISABLE_PLUGIN_TLS", "1") // keys and certificates take a third of the time of a short command
	env.Setenv(simcloud.EnvDir, filepath.Join(env.WorkDir, ownCloud))
	env.Setenv(simcloud.EnvLog, filepath.Join(env.WorkDir, ownLog))
	return nil
}

// listFiles returns the paths of all regular files below dir. Links are not followed: installed providers are
// links to the mirror.
func listFiles(dir string) (map[string]bool, error) {
	out := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out[path] = true
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return out, err
}

// noSecret searches everything that a run left or printed.
func noSecret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: nosecret text...")
	}
	work := ts.Getenv("WORK")
	files, err := listFiles(work)
	ts.Check(err)
	brought := ts.Value("brought").(map[string]bool)
	searched := map[string][]byte{"standard output": []byte(ts.ReadFile("stdout")), "standard error": []byte(ts.ReadFile("stderr"))}
	for path := range files {
		rel, err := filepath.Rel(work, path)
		ts.Check(err)
		if brought[path] || within(rel, ownCloud) || within(rel, ownLog) || within(rel, ownTmp) {
			continue
		}
		text, err := os.ReadFile(path)
		ts.Check(err)
		searched[rel] = text
	}
	var scanner secretscan.Scanner
	var short []string // words that no encoding is known of
	for _, secret := range args {
		if len(secret) < secretscan.Least {
			short = append(short, secret)
			continue
		}
		scanner.Add(secret, secret)
	}
	for _, name := range slices.Sorted(maps.Keys(searched)) {
		for _, word := range short {
			if bytes.Contains(searched[name], []byte(word)) {
				ts.Fatalf("%s has a secret: %s", name, word)
			}
		}
		if found := scanner.Scan(searched[name]); len(found) > 0 {
			ts.Fatalf("%s has a secret: %s", name, found[0])
		}
	}
}

func within(rel, top string) bool {
	return rel == top || len(rel) > len(top) && rel[:len(top)] == top && os.IsPathSeparator(rel[len(top)])
}
