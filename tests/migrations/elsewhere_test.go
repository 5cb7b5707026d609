//go:build unix

package migrations

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
)

// TestOtherDatabases moves a state from one database to another, which only the connection string tells
// apart: it is secret, and the record has it encrypted. Without a migration, a run would not find the state
// and create everything a second time.
func TestOtherDatabases(t *testing.T) {
	server := postgres.Start(t)
	db := opened(t, server)
	for _, kind := range []string{"postgres", "pg"} {
		if _, err := db.Exec("CREATE DATABASE " + kind + "_other"); err != nil {
			t.Fatal(err)
		}
		here := server.URL(0)
		there := strings.Replace(here, "/postgres?", "/"+kind+"_other?", 1)
		if there == here {
			t.Fatalf("the database is not in %q", here)
		}
		block := func(url, schema string) string {
			return fmt.Sprintf("terraform {\n  backend %q {\n    conn_str    = %q\n    schema_name = %q\n  }\n}\n", kind, url, schema)
		}
		begun := func(t *testing.T) (*site, string) {
			t.Helper()
			schema := strings.ToLower(filepath.Base(t.Name())) + kind
			s := newSite(t, environ("XDG_CONFIG_HOME="+t.TempDir()), map[string]string{"main.tf": brief})
			s.put(block(here, schema))
			return s, schema
		}
		beside := func(t *testing.T) {
			if kind != "pg" { // which has one lock for creating states in all schemas of a database
				t.Parallel()
			}
		}
		t.Run(kind, func(t *testing.T) {
			t.Run("moved", func(t *testing.T) {
				beside(t)
				s, schema := begun(t)
				pulled := s.begin("default")["default"]
				s.put(block(there, schema))
				s.fails([]string{"plan"}, "Backend initialization required", "mayfly init -migrate-state")
				s.fails([]string{"init"}, "Backend configuration changed")
				out := s.move(block(there, schema))
				s.contains("init", out, copied("default"), "/postgres/"+schema, "/"+kind+"_other/"+schema, "Successfully configured")
				s.has(pulled)
				s.contains("init", s.move(block(here, schema+"2")), copied("default")) // the schema is another one, too
				s.has(pulled)
				s.put(block(there, schema+"2"))
				s.must("init", "-reconfigure")
				if got := s.must("state", "pull"); got != "" {
					t.Errorf("state pull: got\n%s\nwant no state, since it was left behind", got)
				}
			})
			t.Run("alias", func(t *testing.T) { // another name of the same server
				beside(t)
				s, schema := begun(t)
				pulled := s.begin("default")["default"]
				s.put(block(strings.Replace(here, "127.0.0.1", "localhost", 1), schema))
				s.fails(migrating(patient), "the new place is the former one", "mayfly init -reconfigure", "Nothing was copied")
				s.must("init", "-reconfigure")
				s.has(pulled)
			})
			t.Run("same", func(t *testing.T) { // the place does not depend on the user, the password and settings
				beside(t)
				s, schema := begun(t)
				pulled := s.begin("default")["default"]
				s.put(block(here+"&application_name=another&password=changed", schema))
				s.has(pulled)
				s.must("init", "-input=false")
				s.has(pulled)
				s.env = append(s.env, "PG_CONN_STR="+here)
				s.put(strings.Replace(block("", schema), `conn_str    = ""`, "", 1))
				s.has(pulled)
			})
			t.Run("beside", func(t *testing.T) { // the block says nothing
				beside(t)
				s, schema := begun(t)
				s.put(strings.Replace(block("", schema), `conn_str    = ""`, "", 1))
				s.must("init", "-backend-config=conn_str="+here)
				s.must("apply", "-auto-approve")
				pulled := s.must("state", "pull")
				s.must("init", "-backend-config=conn_str="+here)
				s.must("init")
				s.has(pulled)
				s.fails([]string{"init", "-backend-config=conn_str=" + there}, "Backend configuration changed")
				s.contains("init", s.must(migrating("-backend-config=conn_str="+there)...), copied("default"))
				s.has(pulled)
			})
			t.Run("keyless", func(t *testing.T) { // what was recorded cannot be read, so nothing is compared
				beside(t)
				s, schema := begun(t)
				pulled := s.begin("default")["default"]
				s.env = append(s.env, "XDG_CONFIG_HOME="+t.TempDir())
				s.has(pulled)
				s.must("init", "-input=false")
				s.has(pulled)
				filetest.Write(t, filepath.Join(s.dir, "more.tf"), "locals {}\n")
				s.put(block(here+"&application_name=another", schema))
				s.has(pulled)
			})
		})
	}
}
