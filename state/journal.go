package state

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// Journal makes single results durable during a run, long before the whole state is stored. Its methods are
// safe for concurrent use. An operation changes one object: Begin, the call of the provider, then Commit or
// Fail. One that has begun and not ended when the process dies is reported by the next run as unfinished, and
// so is an ephemeral instance between Opening and Closed.
type Journal interface {
	// Begin records that action ("create", "delete" and so on) is about to be done to the object. It
	// returns when the record is durable.
	Begin(o addr.Object, action string) (id uint64, err error)
	// Commit ends an operation with its results, of which a later run finds all or none. It returns when they
	// are durable; operations that depend on them may then start.
	Commit(id uint64, changes ...ObjectChange) error
	// Fail ends a failed operation with the changes that it made nevertheless, such as a tainted object.
	Fail(id uint64, changes ...ObjectChange) error
	// Opening records that an ephemeral instance is about to be opened by a provider. It returns when the
	// record is durable.
	Opening(i addr.Instance, p addr.Provider, at time.Time) (id uint64, err error)
	// Closed records that nothing of an opening is left.
	Closed(id uint64) error
}

// Queue is implemented by a Journal that gives results their place before they are durable, so that several
// operations which change the same object can wait together.
type Queue interface {
	// Enqueue is Commit in two parts. It returns once the results have their place: they are durable no later
	// than the results of calls that begin after that. Wait returns when they are, and must be called.
	Enqueue(id uint64, changes ...ObjectChange) (wait func() error)
}

// ObjectChange is a new or removed object.
type ObjectChange struct {
	Object   addr.Object
	Provider addr.ProviderConfig
	New      *Object // nil removes
	Salts    []Salt  // new ones, which the object may depend on
	Step     *Step   // whose outcome it is; nil for other changes. It is not encoded
}

// Apply makes the change in s.
func (c ObjectChange) Apply(s *State) {
	s.SetObject(c.Object, c.New, c.Provider)
	s.AddSalts(c.Salts...)
}

// LogFile is the file of a Log, opened for appending. Write and Sync are called by one goroutine at a time.
type LogFile interface {
	Write(b []byte) (int, error)
	// Sync returns when everything written is on stable storage.
	Sync() error
	// Reserve ensures, where possible, that n more bytes can be written. It may be called during writes.
	Reserve(n int64) error
}

// Sealer encrypts the content of a journal. Each call is independent of the others. It must be safe for
// concurrent use.
type Sealer interface {
	// Seal returns the encrypted form; nil if the content is to be written as it is.
	Seal(plain []byte) ([]byte, error)
	Unseal(sealed []byte) ([]byte, error)
	// CheckPlain returns an error unless content that is not encrypted may be read.
	CheckPlain() error
}

// Log is a Journal in an append-only file. Calls that arrive while the file is being synchronized share the
// next synchronization (group commit), so that durability needs few of them under load. An error of the
// file is final: its end is then unknown, so every later call returns the same error. Nothing is written
// before the first call.
type Log struct {
	file   LogFile
	sealer Sealer

	// flushing has room for the goroutine that writes; taken before mu. It is a channel rather than a mutex
	// so that tests with virtual time regard waiting for it as waiting.
	flushing chan struct{}

	mu      sync.Mutex
	next    uint64
	header  []byte // the first frame, until it is written
	pending *batch
	spare   []byte // the room of the records that were written last
	failed  error
	lost    bool // the results of an ended operation are missing from the file
	changes int
	open    map[uint64]struct{}
}

// resultSize is the number of bytes reserved for the result of each operation before it begins. Few results
// are larger.
const resultSize = 256 << 10

// batch is a group of records that become durable together, as one frame.
type batch struct {
	records []byte // a list in JSON, without its end
	done    bool   // protected by Log.flushing
	err     error
}

// NewLog returns a journal for changes to base, the state that they will be replayed on. sealer may be nil.
// Nothing is written yet, so a run without changes leaves no file.
func NewLog(file LogFile, base Meta, sealer Sealer) (*Log, error) {
	header, err := json.Marshal(headerRecord{Format: journalFormat, Version: journalVersion, Lineage: base.Lineage, Serial: base.Serial, Writer: base.Version})
	if err != nil {
		return nil, fmt.Errorf("starting the journal: %w", err)
	}
	return &Log{file: file, sealer: sealer, flushing: make(chan struct{}, 1), header: frame(header), next: 1, open: map[uint64]struct{}{}}, nil
}

// Begin implements Journal. It fails if the file has no room for the result, because an operation must not
// be done if it cannot be recorded. Room is reserved for the results of all operations under way.
func (l *Log) Begin(o addr.Object, action string) (uint64, error) {
	l.mu.Lock()
	id := l.next
	l.next++
	l.open[id] = struct{}{}
	room := int64(len(l.open)) * resultSize
	l.mu.Unlock()
	if err := l.begin(id, room, o, action); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, id)
		return id, err
	}
	return id, nil
}

// begin reserves room bytes and writes the record.
func (l *Log) begin(id uint64, room int64, o addr.Object, action string) error {
	if err := l.file.Reserve(room); err != nil {
		return fmt.Errorf("reserving room in the journal: %w", err)
	}
	b := strconv.AppendUint([]byte(`{"begin":{"id":`), id, 10)
	b = appendString(append(b, `,"action":`...), action)
	b = appendResourceHead(append(b, `,"object":`...), o.Abs())
	b = appendHeadOnly(append(b, `,"instance":`...), o)
	return l.append(append(b, "}}}"...))
}

// Commit implements Journal.
func (l *Log) Commit(id uint64, changes ...ObjectChange) error { return l.end("commit", id, changes)() }

// Fail implements Journal.
func (l *Log) Fail(id uint64, changes ...ObjectChange) error { return l.end("fail", id, changes)() }

// Enqueue implements Queue.
func (l *Log) Enqueue(id uint64, changes ...ObjectChange) (wait func() error) {
	return l.end("commit", id, changes)
}

// Idle reports whether the journal contains nothing that a later run would need: no changes and no
// unfinished operations.
func (l *Log) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes == 0 && len(l.open) == 0 && !l.lost
}

// End ends the journal, which may be removed then: nothing is written any more, and later calls fail.
func (l *Log) End() {
	l.flushing <- struct{}{} // a write under way ends first
	defer func() { <-l.flushing }()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = errEnded
	}
}

var errEnded = errors.New("the journal has ended")

// Complete reports whether the results of all ended operations are durable in the journal.
func (l *Log) Complete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.lost
}

// Folded records that a state file with the given serial and checksum (SHA-256 of its bytes), which
// contains everything in the journal, is about to replace the base. It returns when the record is durable.
// After a crash, it shows that a state file with that checksum needs no replay.
func (l *Log) Folded(serial uint64, sum [32]byte) error {
	return l.append(foldedRecord(serial, sum))
}

// FoldedFrame returns the frame that Folded writes, for appending to a journal left by an earlier run.
func FoldedFrame(serial uint64, sum [32]byte, sealer Sealer) ([]byte, error) {
	return sealedFrame(nil, slices.Concat([]byte{'['}, foldedRecord(serial, sum), []byte{']'}), sealer)
}

// foldedRecord returns the record of Folded.
func foldedRecord(serial uint64, sum [32]byte) []byte {
	return fmt.Appendf(nil, `{"folded":{"serial":%d,"sha256":"%x"}}`, serial, sum)
}

// end adds the last record of an operation; wait returns when it is durable. If that fails, the journal is no
// longer complete; see Complete.
func (l *Log) end(kind string, id uint64, changes []ObjectChange) (wait func() error) {
	record, err := l.endRecord(kind, id, changes)
	var b *batch
	if err == nil {
		b = l.enqueue(record)
	}
	return func() error {
		if err == nil {
			err = l.await(b)
		}
		if err != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.lost = true
		}
		return err
	}
}

// endRecord closes the operation and returns its record. The operation counts as ended even if its record
// is never written: its changes then exist only in memory.
func (l *Log) endRecord(kind string, id uint64, changes []ObjectChange) ([]byte, error) {
	l.mu.Lock()
	if _, ok := l.open[id]; !ok {
		l.mu.Unlock()
		return nil, fmt.Errorf("the journal knows no operation %d that could end", id)
	}
	delete(l.open, id)
	l.changes += len(changes)
	l.mu.Unlock()
	b := append(append([]byte(`{"`), kind...), `":{"id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"changes":[`...)
	for i, c := range changes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendChange(b, c)
	}
	return append(b, "]}}"...), nil
}

// appendChange appends a change as an entry of the state file's resources with one instance; a removal only
// identifies the object.
func appendChange(b []byte, c ObjectChange) []byte {
	b = appendResourceHead(b, c.Object.Abs())
	if len(c.Salts) > 0 {
		b = appendSalts(append(b, `,"salts":`...), c.Salts)
	}
	if c.New == nil {
		return append(appendHeadOnly(append(b, `,"removed":true,"instance":`...), c.Object), '}')
	}
	b = appendString(append(b, `,"provider":`...), c.Provider.String())
	b = appendInstance(append(b, `,"instance":`...), instanceHead{key: c.Object.Key, deposed: c.Object.Deposed}, c.New)
	return append(b, '}')
}

// appendHeadOnly appends the members that name one object of a resource, and no attributes.
func appendHeadOnly(b []byte, o addr.Object) []byte {
	b = instanceHead{key: o.Key, deposed: o.Deposed}.append(append(b, '{'), false)
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

// append adds a record and returns when it is durable.
func (l *Log) append(record []byte) error { return l.await(l.enqueue(record)) }

// enqueue adds a record to the pending batch, which it returns.
func (l *Log) enqueue(record []byte) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = &batch{records: append(l.spare[:0], '[')}
		l.spare = nil
	} else {
		l.pending.records = append(l.pending.records, ',')
	}
	l.pending.records = append(l.pending.records, record...)
	return l.pending
}

// await returns when a batch is durable. The first goroutine that gets to write does so for all records in
// the batch, after the other goroutines that could run had the chance to add theirs.
func (l *Log) await(b *batch) error {
	l.flushing <- struct{}{}
	defer func() { <-l.flushing }()
	if !b.done {
		runtime.Gosched()
		l.flush(b)
	}
	return b.err
}

// flush writes the pending batch b, preceded by the header if it is the first. The caller holds flushing.
func (l *Log) flush(b *batch) {
	l.mu.Lock()
	l.pending = nil
	header, failed := l.header, l.failed
	l.header = nil
	l.mu.Unlock()

	b.done = true
	b.records = append(b.records, ']')
	b.err = failed
	if b.err == nil {
		b.err = bug.Catch(func() error { return l.write(header, b.records) }) // others wait for the batch
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.err != nil {
		l.failed = b.err
	}
	if cap(b.records) <= mostSpare {
		l.spare = b.records
	}
	b.records = nil
}

// mostSpare is how many bytes of room are kept for further records.
const mostSpare = 1 << 20

// write writes one frame, after the header if there is one, and synchronizes the file.
func (l *Log) write(header, records []byte) error {
	text, err := sealedFrame(header, records, l.sealer)
	if err != nil {
		return err
	}
	if uint64(len(text)) > math.MaxUint32 {
		return errors.New("writing the journal: the results of one moment are larger than 4 GiB")
	}
	if _, err := l.file.Write(text); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("making the journal durable: %w", err)
	}
	return nil
}

// The format of the journal file. Each frame is a line: the CRC-32C of the rest of the line in eight
// hexadecimal digits, a space, the length of the payload in eight hexadecimal digits, a space, the payload in
// JSON. The payload of the first frame is a header; any other payload is a list of records, or a string if
// they are encrypted.
//
//	5f3a0c11 00000062 {"format":"mayfly state journal","version":1,"lineage":"…","serial":7,"writer":"1.0.0"}
//	0b77de20 00000059 [{"begin":{"id":1,"action":"create","object":{"mode":"managed",…}}}]
//	c2114e9d 000000f0 [{"commit":{"id":1,"changes":[…]}}]
//
// The constants are offsets in a frame, in bytes.
const (
	journalFormat  = "mayfly state journal"
	journalVersion = 1
	crcEnd         = 8
	lengthStart    = crcEnd + 1
	lengthEnd      = lengthStart + 8
	payloadStart   = lengthEnd + 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errNoSealer = fmt.Errorf("%w: the configuration has no encryption that could decrypt it", ErrJournalSealed)

// frame returns the line for a payload.
func frame(payload []byte) []byte { return appendFrame(nil, payload) }

// appendFrame appends the line for a payload. The checksum covers the length too, so a damaged length is not
// followed.
func appendFrame(b, payload []byte) []byte {
	start := len(b)
	b = slices.Grow(b, payloadStart+len(payload)+1)
	b = fmt.Appendf(b, "%08x %08x ", 0, len(payload))
	b = append(b, payload...)
	sum := crc32.Checksum(b[start+lengthStart:], castagnoli)
	copy(b[start:], fmt.Appendf(nil, "%08x", sum))
	return append(b, '\n')
}

// sealedFrame appends the frame of a group of records to b: their JSON array, or a string with its encrypted
// form in base64.
func sealedFrame(b, records []byte, sealer Sealer) ([]byte, error) {
	if sealer != nil {
		sealed, err := sealer.Seal(records)
		if err != nil {
			return nil, fmt.Errorf("encrypting the journal: %w", err)
		}
		if sealed != nil {
			records = append(base64.StdEncoding.AppendEncode([]byte{'"'}, sealed), '"')
		}
	}
	return appendFrame(b, records), nil
}
