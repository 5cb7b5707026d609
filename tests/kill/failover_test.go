//go:build unix

package kill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

// replicated is a site whose state is on a primary server with a replica, which has each transaction before
// the primary server acknowledges it. A proxy is before the primary server.
type replicated struct {
	*site
	primary, replica *postgres.Server
	proxy            *tcpproxy.Proxy
	edits            int
}

// stops lets a transaction of a run wait at its end on one server, until public.released is used. Sequences
// show to all at once.
const stops = `CREATE SEQUENCE public.released;
CREATE SEQUENCE public.arrived;
CREATE FUNCTION public.stop() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE here boolean; BEGIN
	IF current_setting('port') <> TG_ARGV[0] THEN RETURN NULL; END IF;
	EXECUTE 'SELECT ' || TG_ARGV[1] INTO here;
	IF here THEN
		PERFORM nextval('public.arrived');
		WHILE NOT (SELECT is_called FROM public.released) LOOP PERFORM pg_sleep(0.01); END LOOP;
	END IF;
	RETURN NULL;
END $$;`

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	s := &replicated{site: &site{T: t, cloud: t.TempDir(), home: t.TempDir(), log: filepath.Join(t.TempDir(), "rpc.log"), dir: t.TempDir()}}
	s.calls = simlog.NewReader(s.log)
	s.primary = postgres.Start(t)
	s.edit()
	s.connect(s.primary)
	s.must(0, "init", "-plugin-dir="+mirror)
	s.apply()
	s.query(stops)
	s.pair()
	return s
}

// edit changes the configuration, so that an apply changes an object, three that depend on it, and an output,
// and finds that one more stays as it is.
func (s *replicated) edit() {
	s.Helper()
	s.edits++
	filetest.Write(s, filepath.Join(s.dir, "main.tf"), fmt.Sprintf(`terraform {
  required_providers {
    sim = { source = %q }
  }
  backend "postgres" {
    lease = "10m"
  }
}
locals { text = "text %d" }
resource "sim_thing" "base" {
  name = "base"
  tags = { text = local.text }
}
resource "sim_thing" "reader" {
  count = 3
  name  = "reader${count.index}"
  tags  = { text = sim_thing.base.tags["text"] }
}
resource "sim_thing" "still" { name = substr(local.text, 0, 4) }
output "base" { value = sim_thing.base.tags["text"] }
check "base" {
  assert {
    condition     = sim_thing.base.tags["text"] == local.text
    error_message = "It is another one."
  }
}
`, simcloud.Source, s.edits))
}

// connect has the next commands use servers of this machine, the first of these that takes changes.
func (s *replicated) connect(servers ...*postgres.Server) {
	var ports []string
	for _, one := range servers {
		ports = append(ports, fmt.Sprint(one.Port))
	}
	s.connectTo(ports...)
}

func (s *replicated) connectTo(ports ...string) {
	hosts := strings.TrimSuffix(strings.Repeat("127.0.0.1,", len(ports)), ",")
	s.env = []string{fmt.Sprintf("PG_CONN_STR=host=%s port=%s user=test dbname=postgres sslmode=disable target_session_attrs=read-write", hosts, strings.Join(ports, ","))}
}

// pair gives the primary server a replica, and has the next commands use both.
func (s *replicated) pair() {
	s.Helper()
	s.proxy = tcpproxy.Start(s, s.primary.Port)
	s.replica = s.primary.Replica(s)
	s.primary.Synchronous()
	s.connectTo(fmt.Sprint(s.proxy.Port), fmt.Sprint(s.replica.Port))
}

func (s *replicated) query(statement string) string {
	s.Helper()
	out, err := s.primary.Query(statement)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

var applying = []string{"apply", "-auto-approve", "-no-color", "-scope=changed"}

func (s *replicated) apply() string {
	s.Helper()
	return s.must(0, applying...)
}

// stopAt lets the transactions of the next run wait at their ends that change a table and meet conditions, of
// the row and of all rows.
func (s *replicated) stopAt(p point) {
	s.Helper()
	s.query(fmt.Sprintf(`SELECT setval('public.released', 1, false), setval('public.arrived', 1, false);
		CREATE CONSTRAINT TRIGGER stop AFTER INSERT OR UPDATE ON mayfly.%s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (%s) EXECUTE FUNCTION public.stop('%d', '%s')`,
		p.table, p.row, s.primary.Port, strings.ReplaceAll(p.all, "'", "''")))
}

// start starts a command and returns it with what it prints.
func (s *replicated) start(args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.Helper()
	out := &bytes.Buffer{}
	cmd := s.command(out, out, args...)
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	return cmd, out
}

// await waits until a condition on rows holds on the primary server.
func (s *replicated) await(condition string) {
	s.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !s.primary.Reached(condition); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("waited too long for %s", condition)
		}
	}
}

// fail ends the primary server, and has the replica take over.
func (s *replicated) fail() {
	s.Helper()
	s.primary.Kill()
	s.replica.Promote()
	s.proxy.Kill()
	s.primary, s.replica = s.replica, nil
}

// point is a moment of an apply: a transaction of it ends.
type point struct {
	name, table string
	row, all    string // conditions
}

// The last operation of an apply has ended before its end is stored, which is before it records what it has
// found right.
const (
	everywhere = "true"
	atEnd      = "EXISTS (SELECT FROM mayfly.runs r WHERE r.state = 'claimed' AND r.commits = 0 AND EXISTS (SELECT FROM mayfly.operations o WHERE o.run = r.id))"
)

var failovers = []point{
	{"a claim", "claims", everywhere, everywhere},
	{"the beginning of a step", "operations", "NEW.ended IS NULL", everywhere},
	{"the result of a step", "objects", everywhere, everywhere},
	{"outputs and checks", "results", everywhere, everywhere},
	{"the end", "workspaces", everywhere, atEnd},
	{"what is right", "units", everywhere, atEnd},
	{"hashes of blocks", "blocks", everywhere, atEnd},
	{"the release", "runs", "NEW.state = 'ended'", everywhere},
}

// fullMatrix is the number of points from which on both happen to each transaction.
const fullMatrix = 10

// TestFailovers ends the primary server while a transaction of an apply ends, and has its replica take over:
// before the transaction is committed, or when the replica has it and no answer has come. The apply goes on.
// With few points, each transaction is one of both, in turns.
func TestFailovers(t *testing.T) {
	t.Parallel()
	s := newReplicated(t)
	for i, p := range failovers {
		for j, committed := range []bool{false, true} {
			if points(t) < fullMatrix && i%2 == j {
				continue
			}
			name := fmt.Sprintf("%s, committed: %t", p.name, committed)
			s.edit()
			s.stopAt(p)
			began := time.Now()
			cmd, out := s.start(applying...)
			s.await("(SELECT is_called FROM public.arrived)")
			if committed {
				s.proxy.Hold(tcpproxy.ToClient)
				s.query("SELECT nextval('public.released')")
				s.await("NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle')")
			}
			s.fail()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: got %v, want the apply to go on:\n%s", name, err, out)
			}
			s.query(fmt.Sprintf("DROP TRIGGER stop ON mayfly.%s", p.table))
			t.Logf("%s: went on, in %v", name, time.Since(began).Round(time.Millisecond))
			s.checkSame(name)
			s.pair()
		}
	}
}

// TestFailoverAroundPlans has a replica take over that a plan was made at: while an apply there asks for
// approval, and before a saved plan is applied. In between, a command says what to do.
func TestFailoverAroundPlans(t *testing.T) {
	t.Parallel()
	s := newReplicated(t)
	s.edit()
	s.atReplica()
	out := &output{}
	cmd := s.command(out, out, "apply", "-no-color", "-scope=changed")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	s.until("the question", func() bool { return strings.Contains(out.String(), "Enter a value:") })
	s.fail()
	_, err = in.Write([]byte("yes\n"))
	if err = errors.Join(err, cmd.Wait()); err != nil {
		t.Errorf("an apply whose plan was made at the replica: got %v, want it to go on:\n%s", err, out)
	}
	s.checkSame("an apply")

	s.pair()
	s.edit()
	s.atReplica()
	s.must(0, "plan", "-no-color", "-scope=changed", "-out=saved")
	s.connect(s.primary, s.replica)
	s.primary.Kill()
	text, err := s.output("apply", "-no-color", "saved")
	if words := strings.Join(strings.Fields(strings.ReplaceAll(text, "│", "")), " "); err == nil || !strings.Contains(words, "If a replica is about to take over, run the command again when it has") {
		t.Errorf("an apply before the promotion: got %v and\n%s\nwant advice", err, text)
	}
	s.replica.Promote()
	s.primary, s.replica = s.replica, nil
	s.must(0, "apply", "-no-color", "saved") // the first host of the two is gone
	s.checkSame("a saved plan")
}

// atReplica has the next commands use the replica, which has all that the primary server has.
func (s *replicated) atReplica() {
	s.Helper()
	s.await("EXISTS (SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn())")
	s.env = []string{"PG_CONN_STR=" + s.replica.URL(0)}
}

// output is what a program has printed so far.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// checkSame checks that the state is the one that the cloud has, that no run has claims, and that nothing is
// left to do.
func (s *replicated) checkSame(name string) {
	s.Helper()
	s.connect(s.primary)
	var doc struct {
		Outputs   map[string]struct{ Value string }
		Resources []struct {
			Name      string
			Instances []struct {
				Attributes struct {
					ID   string
					Tags map[string]string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(s.must(0, "state", "pull")), &doc); err != nil {
		s.Fatal(err)
	}
	want := fmt.Sprintf("text %d", s.edits)
	recorded := map[string]string{}
	for _, r := range doc.Resources {
		for _, i := range r.Instances {
			if r.Name != "still" {
				recorded[i.Attributes.ID] = i.Attributes.Tags["text"]
			}
		}
	}
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.Fatal(err)
	}
	objects = slices.DeleteFunc(objects, func(o *simcloud.Object) bool { return o.Name == "text" })
	for _, o := range objects {
		if text := recorded[o.ID]; text != want || !bytes.Contains(o.Attrs["tags"], []byte(want)) {
			s.Errorf("%s: got %q in the state and %s in the cloud of %s, want %q", name, text, o.Attrs["tags"], o.Name, want)
		}
	}
	if len(objects) != 4 || len(recorded) != 4 || doc.Outputs["base"].Value != want {
		s.Errorf("%s: got %d objects, %d of them in the state, and the output %q, want 4 and %q", name, len(objects), len(recorded), doc.Outputs["base"].Value, want)
	}
	if left := s.query("SELECT (SELECT count(*) FROM mayfly.claims) + (SELECT count(*) FROM mayfly.operations WHERE ended IS NULL) + (SELECT count(*) FROM mayfly.late)"); left != "0" {
		s.Errorf("%s: got %s claims, operations and late results, want none", name, left)
	}
	if left, _ := filepath.Glob(filepath.Join(s.home, "*", "*", "*")); len(left) > 0 {
		s.Errorf("%s: got the files %q, want none", name, left)
	}
	s.must(0, "plan", "-no-color", "-detailed-exitcode")
	if out := s.must(0, "plan", "-no-color", "-scope=changed"); !strings.Contains(out, "Scope: 0 evaluated") {
		s.Errorf("%s: got the plan\n%s\nwant nothing to be due", name, out)
	}
}
