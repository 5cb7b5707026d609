package state

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
)

// memLog is a LogFile in memory. Only what was synchronised is durable.
type memLog struct {
	mu       sync.Mutex
	buf      bytes.Buffer
	durable  int
	syncs    int
	syncTime time.Duration
	fail     error
	noRoom   error
	reserved int64
}

func (m *memLog) Reserve(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved = max(m.reserved, n)
	return m.noRoom
}

func (m *memLog) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		n, _ := m.buf.Write(b[:len(b)/2])
		return n, m.fail
	}
	return m.buf.Write(b)
}

func (m *memLog) Sync() error {
	time.Sleep(m.syncTime)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.syncs++
	m.durable = m.buf.Len()
	return m.fail
}

func newLog(t rapid.TB, base *File) (*Log, *memLog) {
	t.Helper()
	file := &memLog{}
	l, err := NewLog(file, base.Meta, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l, file
}

func testFile() *File {
	return &File{Meta: Meta{Lineage: "l", Serial: 7, Version: "1.0.0"}, State: New()}
}

// TestJournalWithoutRoom shows that no operation begins whose result might not fit, and that those under way
// end as they should.
func TestJournalWithoutRoom(t *testing.T) {
	l, file := newLog(t, testFile())
	a := at("n", addr.NoKey)
	first, err := l.Begin(a, "create")
	if err != nil || file.reserved < resultSize {
		t.Fatalf("%d bytes reserved, %v", file.reserved, err)
	}
	full := errors.New("full")
	file.noRoom = full
	before := file.buf.Len()
	if _, err := l.Begin(at("m", addr.NoKey), "create"); !errors.Is(err, full) || file.buf.Len() != before {
		t.Errorf("Begin without room for the result: got %v and a journal of %d bytes, want %v and %d bytes", err, file.buf.Len(), full, before)
	}
	if err := l.Commit(first, ObjectChange{Object: a, Provider: testProvider, New: object(t, "x")}); err != nil || !l.Complete() {
		t.Errorf("the operation under way: %v", err)
	}
	file.noRoom = nil
	second, err := l.Begin(at("m", addr.NoKey), "create")
	if err != nil || file.reserved > 2*resultSize {
		t.Errorf("with room again, %d bytes: %v", file.reserved, err)
	}
	file.fail = full
	if err := l.Commit(second, ObjectChange{Object: a}); !errors.Is(err, full) || l.Complete() {
		t.Errorf("a result that was lost: %v", err)
	}
}

func TestJournalThatNeverBeganIsIdle(t *testing.T) {
	l, file := newLog(t, testFile())
	file.noRoom = errors.New("full")
	if _, err := l.Begin(at("n", addr.NoKey), "create"); err == nil || !l.Idle() || !l.Complete() {
		t.Errorf("after a failed begin: %v, idle %v, complete %v", err, l.Idle(), l.Complete())
	}
}

func TestJournalText(t *testing.T) {
	base := testFile()
	l, file := newLog(t, base)
	if file.buf.Len() != 0 || !l.Idle() {
		t.Error("a journal without records is written")
	}
	a, dep := at("n", addr.StringKey("k")), at("m", addr.NoKey)
	dep.Deposed = "00000001"
	id, err := l.Begin(a, "create")
	if err != nil || id != 1 || l.Idle() {
		t.Errorf("begin: got %d, %v, want 1, and a log that is not idle", id, err)
	}
	o := object(t, "<x>")
	o.Private = []byte("p")
	if err := l.Commit(id, ObjectChange{Object: a, Provider: testProvider, New: o}, ObjectChange{Object: dep}); err != nil {
		t.Fatal(err)
	}
	if id, err = l.Begin(dep, "delete"); err != nil || id != 2 {
		t.Errorf("begin: got %d, %v, want 2", id, err)
	}
	if err := l.Fail(id); err != nil {
		t.Fatal(err)
	}
	if err := l.Folded(8, sha256.Sum256(nil)); err != nil {
		t.Fatal(err)
	}
	want := `{"format":"mayfly state journal","version":1,"lineage":"l","serial":7,"writer":"1.0.0"}
[{"begin":{"id":1,"action":"create","object":{"mode":"managed","type":"t","name":"n","instance":{"index_key":"k"}}}}]
[{"commit":{"id":1,"changes":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.opentofu.org/hashicorp/test\"]","instance":{"index_key":"k","schema_version":0,"attributes":{"text":"\u003cx\u003e"},"sensitive_attributes":[],"private":"cA=="}},{"mode":"managed","type":"t","name":"m","removed":true,"instance":{"deposed":"00000001"}}]}}]
[{"begin":{"id":2,"action":"delete","object":{"mode":"managed","type":"t","name":"m","instance":{"deposed":"00000001"}}}}]
[{"fail":{"id":2,"changes":[]}}]
[{"folded":{"serial":8,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}]
`
	var got strings.Builder
	for line := range strings.SplitAfterSeq(file.buf.String(), "\n") {
		if len(line) > payloadStart {
			if n := fmt.Sprintf(" %08x ", len(line)-payloadStart-1); line[crcEnd:payloadStart] != n {
				t.Errorf("length: got %q, want %q", line[crcEnd:payloadStart], n)
			}
			got.WriteString(line[payloadStart:])
		}
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	j, err := ParseJournal(file.buf.Bytes(), nil)
	if err != nil || j.Folded == nil || *j.Folded != (Folded{8, sha256.Sum256(nil)}) || j.Size != int64(file.buf.Len()) || j.Base != base.Meta {
		t.Errorf("ParseJournal: got %+v, %v, want the base %+v, all %d bytes, and the folded serial 8", j, err, base.Meta, file.buf.Len())
	}
}

func replay(base *File, journal []byte) (*Replayed, error) {
	j, err := ParseJournal(journal, nil)
	if j == nil || err != nil {
		return &Replayed{File: base}, err
	}
	return j.Replay(base)
}

func TestReplay(t *testing.T) {
	base := testFile()
	gone, kept := at("gone", addr.NoKey), at("kept", addr.NoKey)
	base.State.SetObject(gone, object(t, "x"), testProvider)
	base.State.SetObject(kept, object(t, "x"), testProvider)
	before := mustWrite(t, base)
	l, file := newLog(t, base)
	begin := func(a addr.Object) uint64 {
		id, err := l.Begin(a, "update")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	made, bad := at("made", addr.IntKey(3)), at("bad", addr.NoKey)
	ids := []uint64{begin(gone), begin(kept), begin(made), begin(bad), begin(at("late", addr.NoKey))}
	tainted := object(t, "half")
	tainted.Tainted = true
	err := errors.Join(
		l.Commit(ids[2], ObjectChange{Object: made, Provider: testProvider, New: object(t, "new")}),
		l.Commit(ids[0], ObjectChange{Object: gone}),
		l.Fail(ids[3], ObjectChange{Object: bad, Provider: testProvider, New: tainted}),
	)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay(base, file.buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := base.Next(base.State.Copy(), "1.0.0")
	want.State.RemoveObject(gone)
	want.State.SetObject(made, object(t, "new"), testProvider)
	want.State.SetObject(bad, tainted, testProvider)
	if diff := cmp.Diff(mustWrite(t, want), mustWrite(t, r.File)); diff != "" {
		t.Error(diff)
	}
	if len(r.Unfinished) != 2 || r.Unfinished[0] != (Unfinished{kept, "update"}) || r.Unfinished[1].Object != at("late", addr.NoKey) || r.Changes != 3 || r.Torn {
		t.Errorf("replayed: got %+v, want 3 changes and 2 unfinished operations", r)
	}
	if mustWrite(t, base) != before {
		t.Error("the base was changed")
	}
	if l.Idle() {
		t.Error("a journal with changes is idle")
	}
}

func TestReplayWithoutChanges(t *testing.T) {
	base := testFile()
	l, file := newLog(t, base)
	id, err := l.Begin(at("n", addr.NoKey), "create")
	if err = errors.Join(err, l.Fail(id)); err != nil {
		t.Fatal(err)
	}
	r, err := replay(base, file.buf.Bytes())
	if err != nil || r.File != base || len(r.Unfinished) != 0 || !l.Idle() {
		t.Errorf("replayed: got %+v, %v, want the base", r, err)
	}
}

func TestForeignJournals(t *testing.T) {
	l, file := newLog(t, testFile())
	if _, err := l.Begin(at("n", addr.NoKey), "create"); err != nil {
		t.Fatal(err)
	}
	later, other := testFile(), testFile()
	later.Serial, other.Lineage = 8, "m"
	for _, base := range []*File{nil, later, other} {
		if _, err := replay(base, file.buf.Bytes()); !errors.Is(err, ErrJournalForeign) {
			t.Errorf("base %+v: %v", base, err)
		}
	}
}

func TestJournalErrorsStick(t *testing.T) {
	l, file := newLog(t, testFile())
	id, err := l.Begin(at("n", addr.NoKey), "create")
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	file.fail = full
	if err := l.Commit(id); !errors.Is(err, full) {
		t.Errorf("commit: %v", err)
	}
	file.fail = nil
	if _, err := l.Begin(at("m", addr.NoKey), "create"); !errors.Is(err, full) {
		t.Errorf("writing behind a torn record: %v", err)
	}
	if l.Idle() {
		t.Error("a failed journal is idle")
	}
	j, err := ParseJournal(file.buf.Bytes(), nil)
	if err != nil || !j.Torn || len(j.records) != 1 {
		t.Errorf("parsed: got %+v, %v, want 1 record of a torn journal", j, err)
	}
	if err := l.Commit(99); err == nil {
		t.Error("an operation that never began ends")
	}
	if err := l.Commit(id); err == nil {
		t.Error("an operation ends twice")
	}
}

// journalOf writes a journal with random changes and returns it with the lengths at which it was durable and
// the state after each.
func journalOf(t *rapid.T, base *File) (text []byte, ends []int, states []*State) {
	l, file := newLog(t, base)
	s := base.State.Copy()
	known := []addr.Object{}
	for range rapid.IntRange(1, 6).Draw(t, "operations") {
		var c ObjectChange
		if len(known) > 0 && rapid.Bool().Draw(t, "remove") {
			c = ObjectChange{Object: rapid.SampledFrom(known).Draw(t, "which")}
		} else {
			o, _ := genObject(t)
			c = ObjectChange{Object: genAddr(t), Provider: genProvider(t), New: o}
			known = append(known, c.Object)
		}
		id, err := l.Begin(c.Object, "do")
		if err == nil {
			err = l.Commit(id, c)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Apply(s)
		ends, states = append(ends, file.buf.Len()), append(states, s.Copy())
	}
	return file.buf.Bytes(), ends, states
}

// TestTornAnywhere cuts a journal off at any byte: what was acknowledged before is all there, and nothing
// half done is.
func TestTornAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := testFile()
		text, ends, states := journalOf(t, base)
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		want := base.State
		for i, end := range ends {
			if end <= cut {
				want = states[i]
			}
		}
		j, err := ParseJournal(text[:cut], nil)
		if err != nil {
			t.Fatal(err)
		}
		if j == nil {
			if cut >= ends[0] {
				t.Fatal("the journal was not recognised")
			}
			return
		}
		r, err := j.Replay(base)
		if err != nil {
			t.Fatal(err)
		}
		if !r.File.State.Equal(want) {
			t.Fatalf("cut at %d of %d: got another state, want the one before\n%s", cut, len(text), text)
		}
	})
}

// TestDamageIsNoticed flips any byte that is not in the last record: the journal must be refused.
func TestDamageIsNoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _, _ := journalOf(t, testFile())
		last := bytes.LastIndexByte(text[:len(text)-1], '\n')
		text[rapid.IntRange(0, last).Draw(t, "where")] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, err := ParseJournal(text, nil); !errors.Is(err, ErrJournalCorrupt) {
			t.Fatalf("got %v", err)
		}
	})
}

// A flipped bit can turn a hexadecimal digit into the same digit in upper case.
func TestDamagedSpelling(t *testing.T) {
	for n := range 100 {
		text := frame(fmt.Appendf(nil, "%d", n))
		i := bytes.IndexAny(text[:crcEnd], "abcdef")
		if i < 0 {
			continue
		}
		text[i] ^= 0x20
		if _, ok := firstFrame(text); ok {
			t.Fatalf("%q was accepted", text)
		}
	}
	for i := range frame([]byte("1"))[:payloadStart] {
		text := frame([]byte("1"))
		text[i] ^= 0x01
		if _, ok := firstFrame(text); ok {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestForgedJournals(t *testing.T) {
	header := frame([]byte(`{"format":"mayfly state journal","version":1,"lineage":"l","serial":7,"writer":"1.0.0"}`))
	change := func(s string) []byte {
		return append(bytes.Clone(header), frame([]byte(`[{"commit":{"id":1,"changes":[`+s+`]}}]`))...)
	}
	for name, text := range map[string][]byte{
		"no header":    frame([]byte(`[]`)),
		"new format":   frame([]byte(`{"format":"mayfly state journal","version":2}`)),
		"not records":  append(bytes.Clone(header), frame([]byte(`{}`))...),
		"bad sum":      append(bytes.Clone(header), frame([]byte(`[{"folded":{"serial":1,"sha256":"zz"}}]`))...),
		"no address":   change(`{"instance":{}}`),
		"no instance":  change(`{"mode":"managed","type":"t","name":"n"}`),
		"bad key":      change(`{"mode":"managed","type":"t","name":"n","instance":{"index_key":-1}}`),
		"no provider":  change(`{"mode":"managed","type":"t","name":"n","instance":{}}`),
		"bad object":   change(`{"mode":"managed","type":"t","name":"n","provider":"provider[\"a/b\"]","instance":{"attributes":[]}}`),
		"bad begin":    append(bytes.Clone(header), frame([]byte(`[{"begin":{"id":1,"object":{}}}]`))...),
		"encrypted":    append(bytes.Clone(header), frame([]byte(`"AAAA"`))...),
		"empty record": append(bytes.Clone(header), frame([]byte(` `))...),
	} {
		if r, err := replay(testFile(), text); err == nil {
			t.Errorf("%s: replayed %+v", name, r)
		}
	}
	for _, text := range []string{"", "garbage", "\n\n", string(header[:20])} {
		if j, err := ParseJournal([]byte(text), nil); j != nil || err != nil {
			t.Errorf("%q: %+v, %v", text, j, err)
		}
	}
}

func FuzzReplay(f *testing.F) {
	l, file := newLog(f, testFile())
	id, err := l.Begin(at("n", addr.StringKey("k")), "create")
	if err != nil {
		f.Fatal(err)
	}
	if err := l.Commit(id, ObjectChange{Object: at("n", addr.StringKey("k")), Provider: testProvider, New: object(f, "x")}, ObjectChange{Object: at("m", addr.NoKey)}); err != nil {
		f.Fatal(err)
	}
	for _, line := range bytes.Split(file.buf.Bytes(), []byte{'\n'}) {
		if len(line) > payloadStart {
			f.Add(line[payloadStart:])
		}
	}
	header := frame([]byte(`{"format":"mayfly state journal","version":1,"lineage":"l","serial":7,"writer":"1.0.0"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		base := testFile()
		for _, text := range [][]byte{payload, frame(payload), append(bytes.Clone(header), frame(payload)...)} {
			r, err := replay(base, text)
			if err != nil || r.File == nil {
				continue
			}
			if got := mustRead(t, []byte(mustWrite(t, r.File))); !Unchanged(got, r.File) {
				t.Errorf("the replayed state is not stored as it is: %s", mustWrite(t, r.File))
			}
		}
	})
}

// brokenLog panics when it is written to.
type brokenLog struct{ memLog }

func (*brokenLog) Write([]byte) (int, error) { panic("broken") }

// TestPanicInTheJournal is an error for every operation of the batch: none of them may take its record for
// durable.
func TestPanicInTheJournal(t *testing.T) {
	l, err := NewLog(&brokenLog{}, Meta{Lineage: "l"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	for range 20 {
		go func() {
			_, err := l.Begin(addr.Object{}, "create")
			errs <- err
		}()
	}
	for range 20 {
		if err := <-errs; err == nil {
			t.Error("a record that was not written counts as durable")
		}
	}
}
