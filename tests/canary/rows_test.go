//go:build unix

package canary

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/secretscan"
)

// rowsSite is a site whose state is in a PostgreSQL server that removes nothing of what it had.
type rowsSite struct {
	*site
	server *postgres.Server
	state  secretscan.Scanner // of what the state has: a sensitive value, one that is not, and a key of an address
}

// The names of what the state has.
const (
	theSensitive = "var.sensitive"
	thePlain     = "var.plain"
	theAddress   = "var.address"
)

// schema has the tables, and views the views.
const (
	schema = "canary"
	views  = schema + "_views"
)

// TestNothingLeaksIntoRows changes, loses and repairs a state in PostgreSQL in all ways there are, and
// searches all that the server has kept at the end: rows, also deleted ones, indexes, statistics, statements,
// the log with all parameters, and the write-ahead log. If the state is encrypted, nothing there has its
// values either; if it isn't, the search has to find them in all these places, so it works.
func TestNothingLeaksIntoRows(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		t.Run(map[bool]string{false: "in clear", true: "encrypted"}[encrypted], func(t *testing.T) {
			t.Parallel()
			newRowsSite(t, encrypted).carryOut(encrypted)
		})
	}
}

func newRowsSite(t *testing.T, encrypted bool) *rowsSite {
	s := &rowsSite{site: newSite(t, shipped, "rows"), server: postgres.Start(t)}
	s.server.KeepAll()
	s.bring("backend.tf", fmt.Sprintf("terraform {\n  backend \"postgres\" {\n    conn_str    = %q\n    schema_name = %q\n    lease       = \"30s\"\n  }\n}\n", s.server.URL(0), schema))
	s.bring("by.auto.tfvars.json", s.values.autoFile(t))
	values := map[string]string{theSensitive: rand.Text() + odd + rand.Text(), thePlain: rand.Text() + rand.Text(), theAddress: rand.Text() + rand.Text()}
	hidden := &secretscan.Scanner{}
	for name, value := range values {
		for _, scanner := range []*secretscan.Scanner{&s.state, hidden} {
			if scanner == &s.state || name != theAddress {
				scanner.Add(name, value)
				scanner.Add(name, value[:len(rand.Text())])
				scanner.Add(name, value[len(value)-len(rand.Text()):])
			}
		}
	}
	s.env = append(s.env, "TF_VAR_sensitive="+values[theSensitive], "TF_VAR_address="+values[theAddress])
	s.bring("plain.auto.tfvars", fmt.Sprintf("plain = %q\n", values[thePlain])) // providers get all of the environment that is not sensitive
	if encrypted {
		s.sealed = hidden
		s.env = append(s.env, "TF_ENCRYPTION=key_provider \"pbkdf2\" \"p\" {\n  iterations = 200000\n  hash_function = \"sha256\"\n  passphrase = "+strconv.Quote(s.values.passphrase)+"\n}\n"+
			"method \"aes_gcm\" \"p\" {\n  keys = key_provider.pbkdf2.p\n}\nstate {\n  method = method.aes_gcm.p\n  enforced = true\n}\nplan {\n  method = method.aes_gcm.p\n  enforced = true\n}\n")
	}
	return s
}

// all carries out steps, each of which is about what the one before has left.
func (s *rowsSite) all(steps ...step) {
	s.Helper()
	for _, st := range steps {
		if s.run(st); s.Failed() {
			s.FailNow()
		}
	}
}

// carryOut does all that there is to do with a state in rows, and searches.
func (s *rowsSite) carryOut(encrypted bool) {
	s.all(step{args: "init -plugin-dir=" + mirror})
	s.server.Incompressible(schema)
	s.settles()
	s.changesByHand()
	s.fails()
	s.comesLate()
	if all() {
		s.isAway()
	}
	s.all(
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=9", prints: "Apply complete"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=9", prints: "0 added, 0 changed"},
		step{args: "state history"}, step{args: "state history sim_account.stored"}, step{args: "state runs"},
		step{args: "state history output.stored"}, step{args: "state history check.c"},
		step{args: "state show -at=1s output.stored", prints: "sensitive value"}, step{args: "state show -at=1s check.c"},
		step{args: "state show -at=1s sim_account.stored"},
	)
	s.searchServer("settling", encrypted)
	s.all(step{args: "destroy VARS -auto-approve -var trigger=9", prints: "Destroy complete"})
	s.has("past_results", "key = 'output stored'", "key = 'output id'")
	s.all(step{args: "state history output.stored", prints: "removed"})
	s.searchServer("all", encrypted)
	s.report()
}

// settles applies with the scope of a change, also with failures and saved plans.
func (s *rowsSite) settles() {
	s.all(
		step{args: "apply VARS -auto-approve -scope=changed", prints: "Apply complete"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=2 -var fail=update-partial", exit: 1, prints: "asked to fail"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=2", prints: "Apply complete"},
		// What the provider computes is not there any more, so applies settle.
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=2", files: map[string]string{"made.tf": ""}, prints: "2 destroyed"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=2", prints: "Apply complete"},
		step{args: "plan VARS -scope=changed -var trigger=2 -out=p", prints: "evaluated"},
		step{args: "apply VARS p", prints: "Apply complete"},
		step{args: "apply VARS -auto-approve -var trigger=3", prints: "Check block assertion failed"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=2 -json", prints: "apply_complete"},
	)
	s.has("units", "kind = 'instance' AND seen IS NOT NULL", "given IS NOT NULL", "kind = 'output'", "kind = 'check'")
	s.has("blocks", "true")
	s.has("results", "NOT passed OR passed")
	s.has("past", "true")
	s.has("past_results", "key = 'check check.c'")
}

// changesByHand changes the record.
func (s *rowsSite) changesByHand() {
	pulled := filepath.Join(s.outside, "pulled.tfstate")
	s.all(
		step{args: "apply VARS -auto-approve -refresh-only -var trigger=2", prints: "Apply complete"},
		step{args: "state rm sim_slow.through"},
		step{args: "import VARS -var trigger=2 sim_slow.through through-1", prints: "Import successful"},
		step{args: "state mv sim_vault.v sim_vault.moved"},
		step{args: "state mv sim_vault.moved sim_vault.v"},
		step{args: "taint sim_vault.v"},
	)
	s.has("due", "kind = 'object'")
	s.all(step{args: "untaint sim_vault.v"})
	run := s.query("SELECT info->>'ID' FROM canary.runs WHERE state = 'ended' ORDER BY ticket LIMIT 1 OFFSET 2")
	file := s.run(step{args: "state pull"})
	filetest.Write(s, pulled, file[:strings.LastIndexByte(file, '}')+1])
	s.all(
		step{args: "state rollback -to=" + run + " -auto-approve", prints: "The record has been put back"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=2", prints: "Apply complete"},
		step{args: "state rm sim_account.stored"},
		step{args: "state push -force " + pulled},
		step{args: "state diff " + run},
		step{args: "apply VARS -auto-approve -var trigger=3", prints: "Apply complete"},
	)
}

// fails ends applies in the middle, which leaves operations, and fails in them.
func (s *rowsSite) fails() {
	s.all(step{args: "apply VARS -auto-approve -var trigger=4 -var delay=30s", exit: -1, signals: []syscall.Signal{syscall.SIGKILL}})
	s.has("operations", "ended IS NULL")
	s.has("openings", "true")
	s.has("claims", "true")
	out := s.run(step{args: "apply VARS -auto-approve -var trigger=4", exit: 1, prints: "Parts of the state are claimed"})
	id := lockID.FindStringSubmatch(out)
	if id == nil {
		s.Fatal("no command that frees the run is printed")
	}
	s.all(
		step{args: "force-unlock -force " + id[1]},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=4 -var fail=update", exit: 1, prints: "asked to fail"},
		step{args: "apply VARS -auto-approve -var trigger=14", exit: 1, prints: "stopped unexpectedly", deeds: crashes("ApplyResourceChange", "panic")},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=14", prints: "Apply complete"},
	)
}

// comesLate frees a run whose operation is under way.
func (s *rowsSite) comesLate() {
	s.run(step{args: "apply VARS -auto-approve -var trigger=5 -var delay=4s", exit: 1, prints: "The result is kept in the database", meanwhile: func() {
		s.run(step{args: "force-unlock -force " + s.running()})
	}})
	s.has("late", "body IS NOT NULL")
	s.all(
		step{args: "plan VARS -var trigger=5", prints: "Results came too late"},
		step{args: "apply VARS -auto-approve -scope=changed -var trigger=5", prints: "Apply complete"},
	)
}

// isAway has the server be away for longer than the lease, so that results are kept in a file.
func (s *rowsSite) isAway() {
	s.run(step{args: "apply VARS -auto-approve -var trigger=6 -var delay=2s", exit: 1, prints: "are kept in the file", meanwhile: func() { s.server.Stop("immediate") }})
	if kept, err := filepath.Glob(s.at("state", "mayfly", "journals", "*.postgres")); err != nil || len(kept) != 1 {
		s.Errorf("got the files %q (%v), want one with results", kept, err)
	}
	s.server.Run()
	s.run(step{args: "apply VARS -auto-approve -scope=changed -var trigger=6", prints: "Apply complete"})
}

// running returns the ID of the run that has claims, which there must be one of.
func (s *rowsSite) running() string {
	return s.query("SELECT info->>'ID' FROM canary.runs WHERE state = 'claimed'")
}

// has reports tables without rows that satisfy conditions: a search of them would find nothing.
func (s *rowsSite) has(table string, conditions ...string) {
	s.Helper()
	for _, c := range conditions {
		if s.query("SELECT count(*) FROM canary."+table+" WHERE "+c) == "0" {
			s.Errorf("got no rows of %s where %s, want some that can be searched", table, c)
		}
	}
}

func (s *rowsSite) query(statement string) string {
	s.Helper()
	out, err := s.server.Query(statement)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// searchServer searches everything that the server has. Of what the state has, it has to find the key of an
// address, and, unless the state is encrypted, both values, in each kind of place.
func (s *rowsSite) searchServer(after string, encrypted bool) {
	s.Helper()
	files := s.relations()
	s.query("ANALYZE")
	found := map[string]map[string]bool{} // by the kind of the place, names
	see := func(place string, text []byte) {
		kind, _, _ := strings.Cut(place, "/")
		if of, is := files[place]; is {
			kind, place = of.kind, of.kind+" "+of.name
		}
		s.judge(after, "the server's "+place, text)
		s.judgeStored(after, "the server's "+place, text)
		for _, f := range s.state.Scan(text) {
			if found[kind] == nil {
				found[kind] = map[string]bool{}
			}
			found[kind][f.Secret] = true
			if kind == "view" && f.Secret == theSensitive {
				s.found = append(s.found, leak{after, place, f})
			}
		}
	}
	see("statistics", []byte(s.query("SELECT * FROM pg_stats WHERE schemaname LIKE 'canary%'")))
	statements := s.query("SELECT query FROM pg_stat_statements")
	if !strings.Contains(statements, "DELETE FROM \""+schema+"\".claims") {
		s.Error("got statements without those about the tables, want the server to keep them")
	}
	see("statements", []byte(statements))
	for view := range strings.Lines(s.query("SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace = '" + views + "'::regnamespace")) {
		view = strings.TrimSpace(view)
		see("view/"+view, []byte(s.query("SELECT * FROM "+views+"."+view)))
	}
	s.query("CHECKPOINT")
	if err := s.server.Search(see); err != nil {
		s.Fatal(err)
	}
	want := map[string][]string{"index": {theAddress}, "rows": {theAddress}, "table": {theAddress}, "pg_wal": {theAddress}, "log": {theAddress}, "statistics": {theAddress}}
	if !encrypted {
		for _, kind := range []string{"rows", "table", "pg_wal", "log"} {
			want[kind] = append(want[kind], theSensitive, thePlain)
		}
		want["view"] = []string{theAddress, thePlain}
	}
	for kind, names := range want {
		for _, name := range names {
			if !found[kind][name] {
				s.Errorf("after %s: got no %s in the %s of the server, want the search to find it", after, name, kind)
			}
		}
	}
}

// relation is a table or an index.
type relation struct{ kind, name string }

// relations returns the relations by the paths of their files.
func (s *rowsSite) relations() map[string]relation {
	s.Helper()
	out := map[string]relation{}
	for line := range strings.Lines(s.query("SELECT pg_relation_filepath(oid), CASE relkind WHEN 'i' THEN 'index' ELSE 'table' END, relname FROM pg_class WHERE relkind IN ('r', 'i', 't')")) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		out[parts[0]] = relation{parts[1], parts[2]}
	}
	return out
}
