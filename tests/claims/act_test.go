//go:build unix

package claims

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

// act is a run of a history.
type act struct {
	number, target int
	alone          bool          // it changes only the target, not what that is made of
	hand           *hand         // in place of an apply; nil for none
	cut            *tcpproxy.Cut // of its connection to the server; nil for none
	strike         *strike       // nil for none

	killed, lapsed bool // it was killed, or lost its claims because its lease had lapsed
	unheard        bool // it has not begun, for want of a connection
	code           int
	output         string
	cutOff         []string // objects of its operations that were open when it was freed
	wasCut         bool
	connected      func() bool // something that it has sent may still be on its way to the server
	begun, end     time.Time
}

// is asks the database a question about a run.
func (a *act) is(s *site, question string) (is bool) {
	s.host.up.RLock()
	defer s.host.up.RUnlock()
	if err := s.db.QueryRow(question, a.note()).Scan(&is); err != nil {
		s.Error(err)
	}
	return is
}

// strike is what happens to the processes of a run.
type strike struct {
	lapse bool // they stand still until their lease has lapsed; otherwise they are killed
	when  moment
	after time.Duration // since then
	rest  time.Duration // of standing still, when the lease has lapsed
}

// moment is when a strike happens.
type moment int

const (
	sinceBegin moment = iota
	inOperation
	atCut
)

// newAct draws an act.
func newAct(s *site, sh shape, r *rand.Rand, number int) *act {
	a := &act{number: number, target: r.IntN(len(sh.parents)), alone: r.IntN(2) == 0}
	if r.IntN(5) < 2 {
		a.hand = newHand(s, r, number)
	}
	if r.IntN(2) == 0 {
		a.cut = &tcpproxy.Cut{Direction: tcpproxy.Direction(r.IntN(2)), After: int64(r.IntN(30000)), Late: time.Duration(r.IntN(2)*r.IntN(300)) * time.Millisecond}
	}
	if r.IntN(5) < 2 {
		a.strike = &strike{lapse: r.IntN(3) == 0, when: []moment{sinceBegin, inOperation, inOperation, atCut}[r.IntN(4)], after: time.Duration(1+r.IntN(1500)) * time.Millisecond, rest: time.Duration(r.IntN(600)) * time.Millisecond}
		switch {
		case a.strike.when == inOperation && a.hand == nil:
			a.strike.after /= 30 // an operation takes up to 0.2 s
		case a.strike.when == atCut && a.cut != nil:
			a.strike.after = 0
		default:
			a.strike.when = sinceBegin
		}
	}
	return a
}

// args returns the command of an act. Its number is its note.
func (a *act) args() []string {
	more := []string{"-lock-timeout=2m", "-run-note=" + a.note()}
	if a.hand != nil {
		return a.hand.args(more)
	}
	return append([]string{"apply", "-auto-approve", set("v", a.number), fmt.Sprint("-target=sim_thing.o", a.target)}, more...)
}

// note is also the name of the sessions of a run at the server.
func (a *act) note() string { return fmt.Sprint("act-", a.number) }

func (a *act) String() string {
	what := fmt.Sprintf("apply of o%d (alone: %v)", a.target, a.alone)
	if a.hand != nil {
		what = a.hand.String()
	}
	return fmt.Sprintf("run %d, %s, with %+v and %+v: exit status %d (killed: %v, lapsed: %v)\n%s", a.number, what, a.cut, a.strike, a.code, a.killed, a.lapsed, a.output)
}

// brokenOff reports whether a run may have done a part of what it was to do.
func (a *act) brokenOff() bool { return a.killed || a.lapsed && a.code != 0 }

// carryOut carries out an act.
func (a *act) carryOut(s *site, sh shape, dir string) {
	only := all
	if a.alone {
		only = a.target
	}
	filetest.Write(s, filepath.Join(dir, "main.tf"), sh.text(only)+blocks)
	proxy := tcpproxy.Start(s, s.host.Port)
	started, cut, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	group := 0 // of processes
	if a.cut != nil {
		c := *a.cut
		c.Do = func() {
			<-started
			if a.strike != nil && a.strike.when == atCut {
				a.strike.begin(group)
			}
			close(cut)
		}
		proxy.Break(c)
	}
	a.begun = time.Now()
	cmd, ended := s.startBy(s.host.at(s.database, proxy.Port)+"&application_name="+a.note(), dir, a.args()...)
	group = cmd.Process.Pid
	close(started)
	var striking sync.WaitGroup
	if a.strike != nil {
		striking.Go(func() {
			if a.await(s, cut, over) {
				a.strike.begin(group)
				a.endStrike(s, group)
			}
		})
	}
	end := <-ended
	close(over)
	striking.Wait()
	a.end, a.code, a.output, a.killed = time.Now(), end.code, end.output, end.code == -1
	a.connected, a.wasCut = proxy.Connected, a.cut != nil && !proxy.Pending()
}

// await waits for the moment of a strike. It returns false if the run has ended before.
func (a *act) await(s *site, cut, over <-chan struct{}) bool {
	for a.strike.when == inOperation && !s.operates(a) {
		select {
		case <-over:
			return false
		case <-time.After(15 * time.Millisecond):
		}
	}
	if a.strike.when != atCut {
		cut = nil
	}
	var timer <-chan time.Time
	if a.strike.when != atCut {
		timer = time.After(a.strike.after)
	}
	select {
	case <-over:
		return false
	case <-cut:
	case <-timer:
	}
	return true
}

// begin strikes a group of processes. It may be repeated.
func (k *strike) begin(group int) {
	signal := syscall.SIGKILL
	if k.lapse {
		signal = syscall.SIGSTOP
	}
	_ = syscall.Kill(-group, signal)
}

// endStrike has the lease of a run that stands still lapse, and lets its processes go on after some time.
func (a *act) endStrike(s *site, group int) {
	if a.strike.lapse {
		a.expire(s)
		time.Sleep(a.strike.rest)
		_ = syscall.Kill(-group, syscall.SIGCONT)
	}
}

// expire does to the lease of a run what time would do.
func (a *act) expire(s *site) {
	s.host.up.RLock()
	defer s.host.up.RUnlock()
	if _, err := s.db.Exec(`UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE info->>'Info' = $1 AND state IN ('claimed', 'waiting')`, a.note()); err != nil {
		s.Error(err)
	}
}

// operates reports whether an operation of a run is under way.
func (s *site) operates(a *act) (is bool) {
	err := s.db.QueryRow(`SELECT EXISTS (SELECT 1 FROM mayfly.operations o JOIN mayfly.runs r ON r.id = o.run WHERE r.info->>'Info' = $1 AND o.ended IS NULL)`, a.note()).Scan(&is)
	return err == nil && is // while the server is started again, nothing is known
}

// finish notes how a run has ended, and frees it if it was killed. A person frees it at once, when something
// that it has sent may still be on its way, and once more when nothing is.
func (a *act) finish(s *site, person string) {
	if !a.killed {
		a.lapsed = a.is(s, `SELECT EXISTS (SELECT 1 FROM mayfly.runs WHERE info->>'Info' = $1 AND (state IN ('lapsed', 'forced') OR COALESCE(ended, clock_timestamp()) > lease_until))`)
		a.unheard = a.code > 0 && !a.is(s, `SELECT EXISTS (SELECT 1 FROM mayfly.runs WHERE info->>'Info' = $1)`)
		return
	}
	a.free(s, person)
	for a.connected() || a.is(s, `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1)`) {
		time.Sleep(10 * time.Millisecond)
	}
	a.free(s, person)
}

// free frees a run that was killed, as a person would do, and as time would do with its lease.
func (a *act) free(s *site, person string) {
	a.expire(s)
	run, open := a.open(s)
	if run == "" {
		return
	}
	r := s.run(person, "force-unlock", "-force", run)
	if r.code == 0 {
		a.cutOff = append(a.cutOff, open...)
	} else if _, left := a.open(s); len(left) > 0 { // else the last operation has ended meanwhile
		s.Errorf("freeing the run %d: got the exit status %d, want 0 since operations on %v are open\n%s", a.number, r.code, left, r.output)
	}
}

// open returns the objects of operations that a run has begun and not ended, and its ID if there are any.
func (a *act) open(s *site) (run string, objects []string) {
	s.host.up.RLock()
	defer s.host.up.RUnlock()
	rows, err := s.db.Query(`SELECT DISTINCT r.info->>'ID', o.key FROM mayfly.runs r JOIN mayfly.operations o ON o.run = r.id
		WHERE r.info->>'Info' = $1 AND r.state <> 'forced' AND o.ended IS NULL`, a.note())
	if err != nil {
		s.Error(err)
		return "", nil
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&run, &key); err != nil {
			s.Error(err)
		}
		objects = append(objects, key)
	}
	return run, objects
}

// reasons are parts of the errors for which a run may be refused. Connections that are lost and a server that
// is started again are none.
var reasons = append([]string{"Parts of the state are claimed", "Error acquiring the state lock", "Plan is stale"}, impossible...)

// A run that has not reached the server yet gives up after this time.
const firstPatience = 3 * time.Second

// says reports whether a run has printed one of some texts.
func (a *act) says(texts ...string) bool { return result{a.code, a.output}.says(texts...) }

// checkEnd checks that a run has failed for a reason that it may have. If it has not begun, it may give up to
// reach a server that was away or too slow, or that its connection was cut to. It may have lost its claims.
func (a *act) checkEnd(s *site) {
	s.Helper()
	switch {
	case a.code <= 0 || a.says(reasons...):
	case a.lapsed && a.says("not renewed in time"):
	case a.unheard && a.says("(tried ") && a.end.Sub(a.begun) > firstPatience && (a.wasCut || s.host.away(a.begun, a.end) || a.says(tooSlow)):
	default:
		s.Errorf("got the error of a run that may not fail like that: %s", a)
	}
}

// count adds numbers that show whether a history is worth something.
func (a *act) count(sum map[string]int) {
	kind := "apply"
	if a.hand != nil {
		kind = a.hand.verb
	}
	switch {
	case a.killed:
		sum[kind+" killed"]++
	case a.lapsed:
		sum[kind+" lapsed"]++
	case a.code == 0:
		sum[kind]++
	case a.unheard && !a.says(reasons...):
		sum[kind+" that reached no server"]++
	default:
		sum[kind+" refused"]++
		for _, reason := range reasons {
			if a.says(reason) {
				sum[reason]++
			}
		}
	}
	if a.wasCut {
		sum["connections cut"]++
	}
	sum["operations cut off"] += len(a.cutOff)
}
