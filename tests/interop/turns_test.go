package interop

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

// turns is how often each engine applies. The variable MAYFLY_TEST_TURNS replaces it.
const turns = 2

// TestTurns lets the engines take turns on one state in each kind of backend, unencrypted and encrypted, each
// in a directory of its own: what one has applied, the other finds unchanged.
func TestTurns(t *testing.T) {
	tofu(t)
	n := turns
	if text := os.Getenv("MAYFLY_TEST_TURNS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	bao := httptest.NewServer(http.HandlerFunc(transit))
	defer bao.Close()
	ways := encrypted(bao.URL)
	for _, kind := range services.Kinds {
		if slices.Contains(services.Own, kind.Name) {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			server := kind.Start(t)
			t.Run("locks", func(t *testing.T) {
				bothWays(t, func(t *testing.T, first, second engine) {
					respectLock(t, server.Block("lock"+first.name), first, second)
				})
			})
			for i, way := range []string{"", "pbkdf2 with arguments", "openbao"} {
				t.Run("encryption "+way, func(t *testing.T) {
					if method, blocks, ok := strings.Cut(ways[way], "\n"); ok {
						t.Setenv("TF_ENCRYPTION", blocks+"state {\n  method = method."+method+".m\n  enforced = true\n}\n")
					}
					value := fmt.Sprintf("value%d", i)
					takeTurns(t, n, server.Block(fmt.Sprintf("turns%d", i)), value)
					if clear := strings.Contains(string(server.Contents()), value); clear != (way == "") {
						t.Errorf("state in clear on the server: got %t, want %t", clear, way == "")
					}
				})
			}
		})
	}
}

// TestCloudBlock lets the engines take turns on the state of the workspace that a cloud block names.
func TestCloudBlock(t *testing.T) {
	tofu(t)
	for _, kind := range services.Kinds {
		if kind.Name == "remote" {
			takeTurns(t, turns, strings.Replace(kind.Start(t).Block("app"), `backend "remote"`, "cloud", 1), "value")
		}
	}
}

const turning = `
variable "turn" {}
resource "terraform_data" "a" {
  count = 3
  input = "${var.turn} of ${count.index}"
}
output "turn" {
  value = var.turn
}
`

func takeTurns(t *testing.T, n int, backend, value string) {
	first, second := engine{"mayfly", binary}, engine{"tofu", tofu(t)}
	dirs := map[string]string{first.name: t.TempDir(), second.name: t.TempDir()}
	for _, e := range []engine{first, second} {
		filetest.Lay(t, dirs[e.name], map[string]string{"main.tf": backend + turning})
		e.must(t, 0, dirs[e.name], "init", "-no-color", "-input=false")
	}
	for i := range 2 * n {
		turn := fmt.Sprintf("-var=turn=%s%d", value, i)
		first.must(t, 0, dirs[first.name], "apply", "-no-color", "-auto-approve", turn)
		second.must(t, 0, dirs[second.name], "plan", "-no-color", "-detailed-exitcode", turn)
		first, second = second, first
	}
}

const slow = `
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch begun; until test -e end; do sleep 0.05; done"
  }
}
`

var lockID = regexp.MustCompile(`(?m)ID: +(\S+)`)

// respectLock checks that the second engine respects and shows a lock of the first.
func respectLock(t *testing.T, backend string, first, second engine) {
	dir, other := t.TempDir(), t.TempDir()
	filetest.Lay(t, dir, map[string]string{"main.tf": backend + slow})
	filetest.Lay(t, other, map[string]string{"main.tf": backend + slow})
	first.must(t, 0, dir, "init", "-no-color", "-input=false")
	second.must(t, 0, other, "init", "-no-color", "-input=false")
	apply := exec.Command(first.path, "apply", "-no-color", "-auto-approve")
	apply.Dir = dir
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%s does not apply", first.name)
		}
	}
	out := second.must(t, 1, other, "apply", "-no-color", "-auto-approve")
	filetest.Lay(t, dir, map[string]string{"end": ""})
	if err := apply.Wait(); err != nil {
		t.Errorf("%s, which held the lock, ended with %v", first.name, err)
	}
	id := lockID.FindStringSubmatch(out)
	silent := strings.Contains(backend, `"pg"`) || strings.Contains(backend, `"remote"`) // where OpenTofu describes no lock
	described := strings.Contains(out, "OperationTypeApply") || strings.Contains(strings.Join(strings.Fields(out), " "), "Operation: apply") || silent && first.name == "tofu"
	if id == nil || !described {
		t.Errorf("%s does not show the lock of %s:\n%s", second.name, first.name, out)
	}
	second.must(t, 0, other, "plan", "-no-color", "-detailed-exitcode")
}
