//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// computedConfig is an account with a token that is kept out of the state, and three objects that use it. The
// account makes a new token for each value of rotate.
func computedConfig(rotate int) string {
	return fmt.Sprintf(`terraform {
  required_providers {
    sim = { source = %q }
  }
}
resource "sim_account" "a" {
  name   = "a"
  rotate = "%d"
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_thing" "user" {
  count             = 2
  name              = "user${count.index}"
  secret_wo         = sim_account.a.token
  secret_wo_version = fingerprint(sim_account.a.token)
}
resource "sim_account" "user" {
  name     = "user"
  password = "with ${sim_account.a.token}"
  lifecycle { ephemeral_attributes = [password] }
}
`, simcloud.Source, rotate)
}

const computedToken = "token-CANARY-a-"

// TestE98SIGKILL kills the program at random calls while a token is made, every second time anew, and
// delivered. The next plan delivers it to all who use it or is an error that names the account; it is never
// empty while one of them lacks the token. The variable MAYFLY_TEST_KILLS replaces the number of points.
func TestE98SIGKILL(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 98))
	var calls [2]int
	for kind := range calls {
		_, calls[kind] = newComputedSite(t, kind == 1).ended(ending{}, 0)
	}
	t.Logf("the applies make %d calls", calls)
	for i := range max(kills, points(t)) {
		kind := i % len(calls)
		at := 1 + random.IntN(calls[kind])
		t.Run(fmt.Sprintf("%s at call %d", []string{"create", "rotate"}[kind], at), func(t *testing.T) {
			t.Parallel()
			s := newComputedSite(t, kind == 1)
			r, _ := s.ended(ending{signals: []syscall.Signal{syscall.SIGKILL}}, at)
			s.hides(r.output)
			s.delivers()
		})
	}
}

// newComputedSite returns a site whose next apply makes a token: the first one, or a new one.
func newComputedSite(t *testing.T, anew bool) *site {
	t.Helper()
	s := newSite(t)
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), computedConfig(0))
	if anew {
		s.must(0, "apply", "-auto-approve")
		filetest.Write(t, filepath.Join(s.dir, "main.tf"), computedConfig(1))
	}
	return s
}

// hides checks that no token is in an output or in a file of the working directory.
func (s *site) hides(output string) {
	s.Helper()
	if strings.Contains(output, computedToken) {
		s.Errorf("a token is in the output:\n%s", output)
	}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/providers/") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), computedToken) {
			s.Errorf("a token is in %s:\n%s", path, text)
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// delivers goes on after a kill, as the messages say, until all have the token.
func (s *site) delivers() {
	s.Helper()
	plan, err := s.output("plan", "-no-color", "-input=false", "-detailed-exitcode")
	s.hides(plan)
	args := []string{"apply", "-auto-approve", "-no-color"}
	switch {
	case err == nil:
		if lack := s.lacking(); len(lack) > 0 {
			s.Errorf("%q lack the token, and the plan is empty:\n%s", lack, plan)
		}
	case strings.Contains(plan, "Error: "):
		if !strings.Contains(plan, "-replace=sim_account.a") {
			s.Errorf("the plan names no way out:\n%s", plan)
		}
		args = append(args, "-replace=sim_account.a")
	}
	s.hides(s.must(0, args...))
	s.must(0, "plan", "-detailed-exitcode")
	s.hides(s.must(0, "show", "-json"))
	if lack := s.lacking(); len(lack) > 0 {
		s.Errorf("%q lack the token after the apply", lack)
	}
}

// lacking returns the objects in the state that do not have the token that the account in the state has now.
func (s *site) lacking() (out []string) {
	s.Helper()
	var doc struct {
		Resources []struct {
			Name, Type string
			Instances  []struct {
				Attributes struct{ ID string }
			}
		}
	}
	if err := json.Unmarshal([]byte(s.must(0, "state", "pull")), &doc); err != nil {
		s.Fatal(err)
	}
	token := ""
	for _, final := range []bool{false, true} {
		for _, r := range doc.Resources {
			for _, i := range r.Instances {
				o, err := simcloud.ReadObject(s.cloud, i.Attributes.ID)
				if err != nil {
					s.Fatal(err)
				}
				switch {
				case r.Name == "a" && json.Unmarshal(o.Attrs["token"], &token) != nil:
					s.Fatalf("the account has no token: %s", o.Attrs["token"])
				case r.Name == "a" || !final:
				case r.Type == "sim_thing" && o.SecretHash != simlog.Hash(token), r.Type == "sim_account" && string(o.Attrs["password"]) != fmt.Sprintf("%q", "with "+token):
					out = append(out, o.Name)
				}
			}
		}
	}
	return out
}
