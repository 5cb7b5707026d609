package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/tests/internal/documents"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) { program.Main(m, prepare) }

// prepare builds the program, and a mirror with the test provider.
func prepare(dir string) error {
	built, err := program.Prepare(dir, simcloud.Source, "0.1.0")
	if err != nil {
		return err
	}
	binary = built.Mayfly
	settings := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", built.Mirror)
	return os.WriteFile(os.Getenv("TF_CLI_CONFIG_FILE"), []byte(settings), 0o600)
}

// produce runs a case.
func produce(t *testing.T, name string) []documents.Document {
	t.Helper()
	c, err := documents.Load(filepath.Join("testdata", "cases", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	e := documents.Engine{Path: binary, Env: []string{"SIM_DIR=" + filepath.Join(dir, "cloud")}}
	docs, err := e.Run(c, filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}
