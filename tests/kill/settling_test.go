//go:build unix

package kill

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

// settlingParts is the number of transactions in which an apply records what it has found right: units in
// parts of 1000, and the hashes of blocks.
const settlingParts = 3

// many is the number of objects in the largest block.
const many = 1100

// settling is a state in PostgreSQL whose objects fill two parts. An apply with the scope of a change stops
// in a part until it is released.
type settling struct {
	*site
	server *postgres.Server
	proxy  *tcpproxy.Proxy
	edits  int
}

// stopping lets the transaction that records a part wait, the one whose number is in public.stop, until
// public.released is used. Sequences show to all at once. The steps of an apply write records too, by another
// statement, and its claim entries of blocks, before the first part.
const stopping = `CREATE TABLE public.stop AS SELECT 0 AS part;
CREATE SEQUENCE public.part;
CREATE SEQUENCE public.released;
CREATE SEQUENCE public.arrived;
CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF TG_TABLE_NAME = 'units' AND current_query() NOT LIKE 'WITH g AS%' OR TG_TABLE_NAME = 'blocks' AND NOT (SELECT is_called FROM public.part) THEN
		RETURN NULL;
	END IF;
	IF nextval('public.part') = (SELECT part FROM public.stop) THEN
		PERFORM nextval('public.arrived');
		WHILE NOT (SELECT is_called FROM public.released) LOOP PERFORM pg_sleep(0.01); END LOOP;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER wait AFTER INSERT ON mayfly.units FOR EACH STATEMENT EXECUTE FUNCTION public.wait();
CREATE TRIGGER wait AFTER INSERT ON mayfly.blocks FOR EACH STATEMENT EXECUTE FUNCTION public.wait();`

func newSettling(t *testing.T) *settling {
	server := postgres.Start(t)
	proxy := tcpproxy.Start(t, server.Port)
	s := &settling{site: &site{T: t, cloud: t.TempDir(), home: t.TempDir(), log: filepath.Join(t.TempDir(), "rpc.log"), dir: t.TempDir()}, server: server, proxy: proxy}
	s.edit()
	s.must(0, "init")
	s.must(0, "apply", "-auto-approve", "-no-color", "-var=v=1") // which records nothing about what is right
	s.query(stopping)
	return s
}

// edit changes the configuration in a way that concerns all objects and changes none.
func (s *settling) edit() {
	s.Helper()
	s.edits++
	filetest.Write(s, filepath.Join(s.dir, "main.tf"), fmt.Sprintf(`terraform {
  backend "postgres" {
    conn_str = %q
  }
}
variable "v" {}
locals { name = substr("name %d", 0, 4) }
resource "terraform_data" "base" { input = var.v }
resource "terraform_data" "reader" {
  count = 10
  input = "${terraform_data.base.output} ${local.name}"
}
resource "terraform_data" "many" {
  count = %d
  input = "${count.index} ${local.name}"
}
output "base" { value = "${terraform_data.base.output} ${local.name}" }
`, s.server.URL(s.proxy.Port), s.edits, many))
}

func (s *settling) query(statement string) string {
	s.Helper()
	out, err := s.server.Query(statement)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// apply applies with the scope of a change.
func (s *settling) apply(v string, more ...string) string {
	s.Helper()
	return s.must(0, append([]string{"apply", "-auto-approve", "-no-color", "-scope=changed", "-var=v=" + v}, more...)...)
}

// stopped starts such an apply, and returns once it is in a part.
func (s *settling) stopped(part int, v string) (cmd *exec.Cmd, out *bytes.Buffer) {
	s.Helper()
	s.query(fmt.Sprintf("SELECT setval('public.part', 1, false), setval('public.released', 1, false), setval('public.arrived', 1, false); UPDATE public.stop SET part = %d", part))
	out = &bytes.Buffer{}
	cmd = s.command(out, out, "apply", "-auto-approve", "-no-color", "-scope=changed", "-var=v="+v)
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	for deadline := time.Now().Add(2 * time.Minute); s.query("SELECT is_called FROM public.arrived") != "t"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("no apply has come to the part %d:\n%s", part, out)
		}
	}
	return cmd, out
}

// release lets an apply that is stopped go on, if it is still there.
func (s *settling) release() { s.query("SELECT nextval('public.released')") }

// hash returns the hash in the record of an object; "" if there is none.
func (s *settling) hash() string {
	return s.query(`SELECT encode(seen, 'hex') FROM mayfly.units WHERE unit = 'terraform_data.many[0]'`)
}

// checkRecorded checks that the records of as many objects as there were parts before have another hash.
func (s *settling) checkRecorded(part int, than string) {
	s.Helper()
	n, err := strconv.Atoi(s.query(`SELECT count(*) FROM mayfly.units WHERE unit LIKE 'terraform_data.many%' AND encode(seen, 'hex') <> '` + than + `'`))
	least := []int{0, 900, many}[part-1] // other units are in the first part, too
	most := []int{0, 1000, many}[part-1]
	if err != nil || n < least || n > most {
		s.Errorf("killed before the part %d: got %d objects with the new hash (%v), want %d to %d", part, n, err, least, most)
	}
}

// kill kills an apply before a part.
func (s *settling) kill(part int, v string) {
	s.Helper()
	before := s.hash()
	cmd, _ := s.stopped(part, v)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	_ = cmd.Wait() // by the signal
	s.release()
	s.checkRecorded(part, before)
}

// checkSettled checks that a full plan finds nothing, and that one apply with the scope of a change leaves
// nothing to look at.
func (s *settling) checkSettled(v string) {
	s.Helper()
	s.must(0, "plan", "-no-color", "-detailed-exitcode", "-var=v="+v)
	s.apply(v)
	if out := s.must(0, "plan", "-no-color", "-scope=changed", "-var=v="+v); !strings.Contains(out, "Scope: 0 evaluated") {
		s.Errorf("got the plan\n%s\nwant nothing to be due", out)
	}
}

// TestSIGKILLBetweenParts kills an apply before each of the transactions in which it records what it has
// found right. What is recorded is right, and the next apply records the rest.
func TestSIGKILLBetweenParts(t *testing.T) {
	t.Parallel()
	s := newSettling(t)
	for part := 1; part <= settlingParts; part++ { // of the first settling, which covers everything
		s.edit()
		s.kill(part, "1")
		if out := s.must(0, "plan", "-no-color", "-scope=changed", "-var=v=1"); !strings.Contains(out, "no full plan has been applied with this scope yet") {
			t.Errorf("killed before the part %d: got the plan\n%s\nwant it to be of everything", part, out)
		}
	}
	s.checkSettled("1")
	for part := 1; part <= settlingParts; part++ {
		v := fmt.Sprint(part)
		s.apply(v)
		s.edit()
		s.kill(part, v)
		// An input of some objects changes, by an apply that looks at nothing else.
		v += "-changed"
		s.must(0, "apply", "-auto-approve", "-no-color", "-var=v="+v, "-target=terraform_data.base")
		if out := s.apply(v); !strings.Contains(out, "0 added, 10 changed, 0 destroyed") {
			t.Errorf("killed before the part %d: got the apply\n%s\nwant the readers of the changed object to be changed", part, out)
		}
		s.checkSettled(v)
		// Now the apply that is killed has changed them itself. Its claims end with its lease.
		v += "-again"
		s.edit()
		s.kill(part, v)
		s.query("UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = 'claimed'")
		s.checkSettled(v)
	}
}

// TestOutageBetweenParts restarts the server, and cuts the connection at any byte, while an apply records a
// part. The apply does not notice.
func TestOutageBetweenParts(t *testing.T) {
	t.Parallel()
	s := newSettling(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s.apply("1")
	for part := 1; part <= settlingParts; part++ {
		for name, fail := range map[string]func(){
			"restart": func() { s.server.Stop([]string{"fast", "immediate"}[r.IntN(2)]); s.server.Run() },
			"cut": func() {
				s.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
			},
			"cut of the answer": func() { s.proxy.Break(tcpproxy.Cut{Direction: tcpproxy.ToClient, After: int64(r.IntN(200))}) },
			"late request": func() {
				s.proxy.Break(tcpproxy.Cut{Direction: tcpproxy.ToServer, After: int64(r.IntN(200)), Late: 50 * time.Millisecond})
			},
		} {
			s.edit()
			cmd, out := s.stopped(part, "1")
			fail()
			s.release()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s in the part %d: got %v, want the apply not to notice:\n%s", name, part, err, out)
			}
			if out := s.must(0, "plan", "-no-color", "-scope=changed", "-var=v=1"); !strings.Contains(out, "Scope: 0 evaluated") {
				t.Errorf("%s in the part %d: got the plan\n%s\nwant nothing to be due", name, part, out)
			}
		}
	}
	s.checkSettled("1")
}
