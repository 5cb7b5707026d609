//go:build unix

package migrations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

// place is a kind of place that keeps states.
type place struct {
	name string
	env  []string
	// one returns the terraform block for the state of that name, which has lower case letters and digits.
	// Equal names are the same state.
	one func(name string) string
	// many returns the block for the states of workspaces below that name; nil if the place has room for one
	// state only. nameless says that none of these workspaces is called "default".
	many     func(name string) string
	nameless bool
	// contents returns all that the place has stored; nil if it is in the site.
	contents func() []byte
}

// places starts a server of each kind. It returns the rows, and all places, with other rows among them.
func places(t *testing.T) (rows place, others []place) {
	t.Helper()
	others = []place{
		{name: "local", env: environ(), one: local, many: local},
		{name: "provider", env: environ(), one: inProvider, many: inProvider},
	}
	for _, kind := range services.Kinds {
		server := kind.Start(t)
		p := place{name: kind.Name, env: environ(), one: server.Block, many: server.Block, contents: server.Contents}
		switch kind.Name {
		case "postgres":
			rows = p
		case "http":
			p.many = nil
		case "remote":
			p.many = func(name string) string {
				return strings.Replace(server.Block(name+"-"), "{ name", "{ prefix", 1)
			}
			p.nameless = true
			cloud := p
			cloud.name = "cloud"
			cloud.one = func(name string) string {
				return strings.Replace(server.Block("c"+name), `backend "remote"`, "cloud", 1)
			}
			cloud.many = func(name string) string {
				return strings.Replace(cloud.one(name), fmt.Sprintf("{ name = %q }", "c"+name), fmt.Sprintf("{ tags = [%q] }", "c"+name), 1)
			}
			others = append(others, cloud)
		}
		others = append(others, p)
	}
	if rows.name == "" {
		t.Fatal("there is no place of rows")
	}
	return rows, others
}

func local(name string) string {
	return fmt.Sprintf("terraform {\n  backend \"local\" {\n    path          = %q\n    workspace_dir = %q\n  }\n}\n", name+".tfstate", name)
}

func inProvider(name string) string {
	return fmt.Sprintf("terraform {\n  state_store \"sim_files\" {\n    provider \"sim\" {}\n    dir = %q\n  }\n}\n", name)
}
