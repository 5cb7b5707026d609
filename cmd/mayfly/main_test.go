package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/harden"
	"github.com/mayfly-iac/mayfly/docs/schemas"
	"github.com/mayfly-iac/mayfly/internal/base/effort"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest/checker"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
)

func TestMain(m *testing.M) {
	if os.Getenv("MAYFLY_TEST_MAIN") != "" {
		main()
	}
	if at := os.Getenv("MAYFLY_TEST_QUIT"); at != "" {
		os.Exit(quitAt(at))
	}
	effort.Save() // of the programs in scripts too
	programs := map[string]func(){"mayfly": checkedMain, "terraform": checkedMain}
	maps.Copy(programs, script.Browsers)
	script.Main(m, programs)
}

func TestScripts(t *testing.T) { script.Run(t, "testdata/script") }

// exitUndescribed is the status of a script's command that writes a document which is not as its schema says.
const exitUndescribed = 98

// checkedMain is main for scripts: what the program writes as JSON is checked by its schema. The names of the
// schemas are appended to the file that SCHEMAS_SEEN names.
func checkedMain() {
	args, seen := os.Args[1:], os.Getenv("SCHEMAS_SEEN")
	dir, err := directoryOf(args)
	if err != nil {
		main()
	}
	before := storedFiles(dir)
	harden.Process(os.Getenv)
	var out bytes.Buffer
	var stdout io.Writer = os.Stdout
	if writesJSON(args) {
		stdout = io.MultiWriter(os.Stdout, &out)
	}
	code := guarded(environment{Called: os.Args[0], Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: harden.TakeEnviron(), Notify: notify, Die: die}, args)
	names, err := checkDocuments(args, dir, out.Bytes(), code == exitOK)
	if err == nil {
		var more []string
		more, err = checkStored(dir, before)
		names = append(names, more...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = exitUndescribed
	}
	if seen != "" {
		f, err := os.OpenFile(seen, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprint(f, strings.Join(append(names, ""), "\n"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = exitUndescribed
		}
	}
	os.Exit(code)
}

// writesJSON reports whether standard output will be JSON.
func writesJSON(args []string) bool {
	asJSON := len(args) > 1 && args[0] == "state" && args[1] == "pull"
	for _, a := range args {
		switch strings.TrimLeft(a, "-") {
		case "help", "h":
			return false
		case "json", "json=true":
			asJSON = true
		}
	}
	return asJSON
}

// directoryOf returns the working directory of a command.
func directoryOf(args []string) (string, error) {
	dir := "."
	for _, a := range args {
		if to, ok := strings.CutPrefix(a, "-chdir="); ok {
			dir = to
		}
	}
	return filepath.Abs(dir)
}

// What the working directory keeps.
var (
	backendRecord  = filepath.Join(".terraform", "terraform.tfstate")
	moduleManifest = filepath.Join(".terraform", "modules", "modules.json")
)

// storedFiles returns the content of files that may be stored in a directory.
func storedFiles(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"terraform.tfstate", backendRecord, moduleManifest} {
		if text, err := readRegular(filepath.Join(dir, name)); err == nil || os.IsNotExist(err) {
			out[name] = string(text)
		}
	}
	return out
}

// readRegular reads a file. Scripts also have pipes and devices, which are not read.
func readRegular(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return os.ReadFile(name)
}

// checkStored checks the stored files that have changed, and returns the names of their schemas.
func checkStored(dir string, before map[string]string) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		text, err := readRegular(filepath.Join(dir, name))
		if err != nil || len(text) == 0 || before[name] == string(text) {
			continue
		}
		schema := ""
		switch name {
		case backendRecord:
			schema = "backend-record"
		case moduleManifest:
			schema = "module-manifest"
		}
		if schema, err = checker.Ask(os.Getenv(checker.Env), checker.Request{Schema: schema, Text: text}); err != nil {
			return nil, err
		}
		names = append(names, schema)
	}
	return names, nil
}

// checkDocuments checks what a command has written with -json and with -json-into, and returns the names of
// the schemas. A command that has failed may have written nothing, or a text.
func checkDocuments(args []string, dir string, out []byte, succeeded bool) ([]string, error) {
	documents := [][]byte{}
	if writesJSON(args) {
		documents = append(documents, out)
	}
	for _, a := range args {
		if file, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "json-into="); ok {
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			if text, err := readRegular(file); err == nil {
				documents = append(documents, text)
			}
		}
	}
	var names []string
	for _, doc := range documents {
		if !succeeded && !bytes.HasPrefix(doc, []byte("{")) {
			continue
		}
		name, err := checker.Ask(os.Getenv(checker.Env), checker.Request{Args: args, Text: doc})
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// TestEverySchemaHasADocument checks that the script of the schemas has seen a document for each.
func TestEverySchemaHasADocument(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "schemas.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name != "want" {
			continue
		}
		seen := append(strings.Fields(string(f.Data)), schemas.Common)
		seen = append(seen, "active-runs", "object-history", "query-result", "run-history") // by the scripts of TestPostgres
		if all := schemas.Names(); !slices.Equal(slices.Sorted(slices.Values(seen)), all) {
			t.Errorf("documents of the script: got %q, want one for each of the schemas %q", seen, all)
		}
	}
}
