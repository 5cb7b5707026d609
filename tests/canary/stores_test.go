//go:build unix

package canary

import (
	"fmt"
	"regexp"
	"slices"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/httpserver"
	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

// usual are the servers that are searched by default. To reach them, a test needs no variables in its
// environment, so they are searched in parallel.
var usual = []string{"http", "s3"}

// lockID is the ID of a lock, or of a run that has claims.
var lockID = regexp.MustCompile(`(?m)^\s*(?:ID:|mayfly force-unlock)\s+(\S+)`)

// TestNothingLeaksIntoStores ends applies whose state is on a server, and searches what that has stored.
func TestNothingLeaksIntoStores(t *testing.T) {
	for _, kind := range services.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			switch {
			case slices.Contains(usual, kind.Name):
				t.Parallel()
			case !all():
				t.Skip("MAYFLY_TEST_CANARIES=all runs this")
			}
			server := kind.Start(t)
			if server.LogAll != nil {
				server.LogAll()
			}
			s := newSite(t, shipped, "main")
			s.stored = func() []byte { return server.Contents() }
			s.bring("backend.tf", server.Block("canary"))
			s.follow([]step{{args: "apply VARS -auto-approve -var delay=30s", exit: -1, signals: []syscall.Signal{syscall.SIGKILL}}})
			s.anyEnd = true // not every server keeps the lock
			if id := lockID.FindStringSubmatch(s.run(step{args: "apply VARS -auto-approve"})); id != nil {
				s.run(step{args: "force-unlock -force " + id[1]})
			}
			s.anyEnd = false
			s.run(step{args: "apply VARS -auto-approve", prints: "Apply complete"})
			s.run(step{args: "apply VARS -auto-approve -var trigger=2 -var fail=update-partial", exit: 1, prints: "asked to fail"})
			if len(s.stored()) == 0 {
				t.Error("the server has stored nothing")
			}
			s.run(step{args: "destroy VARS -auto-approve", prints: "Destroy complete"})
			s.report()
		})
	}
}

// TestNothingLeaksOfCredentials gives credentials to a backend, to a data source that reads a state, and to
// the encryption of states.
func TestNothingLeaksOfCredentials(t *testing.T) {
	t.Parallel()
	server := httpserver.Start(t)
	s := newSite(t, shipped, "main")
	s.stored = func() []byte {
		server.Mu.Lock()
		defer server.Mu.Unlock()
		return slices.Concat(server.State, server.Lock)
	}
	s.bring("backend.tf", fmt.Sprintf("terraform {\n  backend \"http\" {\n    address = %q\n  }\n}\n", server.URL))
	s.bring("by.auto.tfvars.json", s.values.autoFile(t))
	for _, st := range []step{
		{args: "init CREDENTIALS -plugin-dir=" + mirror},
		{args: "apply VARS -auto-approve", prints: "Apply complete"},
		{
			args:  "plan VARS -out=p",
			files: map[string]string{"remote.tf": fmt.Sprintf("data \"terraform_remote_state\" \"r\" {\n  backend = \"http\"\n  config = {\n    address = %q\n  }\n  config_wo = {\n    password = var.by_auto\n  }\n}\n", server.URL)},
		},
		{args: "show -json p", prints: "terraform_remote_state"},
		{args: "apply VARS p", prints: "Apply complete"},
		{args: "init -migrate-state -force-copy -plugin-dir=" + mirror, files: map[string]string{"backend.tf": ""}, prints: "Successfully unset"},
		{args: "state pull", prints: "sim_thing"},
	} {
		s.run(st)
	}
	s.report()
}
