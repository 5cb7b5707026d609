package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"

	"github.com/mayfly-iac/mayfly/addr"
)

// Errors about journals that cannot be replayed. Returned errors wrap one of them and give the reason.
var (
	ErrJournalCorrupt = errors.New("the state's journal is damaged")
	ErrJournalForeign = errors.New("the state's journal belongs to another state")
	// ErrJournalSealed means that encryption is configured differently from when the journal was written.
	ErrJournalSealed = errors.New("the state's journal cannot be decrypted")
)

// JournalFile is the content of a journal, as parsed by ParseJournal.
type JournalFile struct {
	Base Meta // of the state that the journal belongs to
	// Torn reports that the last write was cut off. It was never acknowledged.
	Torn bool
	// Size is the length of the intact part in bytes, the only place where records may be appended.
	Size int64
	// Folded is the state file that was about to replace the base; nil if the run did not get that far.
	Folded *Folded

	records []record
}

// Folded identifies a state file that contains everything in a journal.
type Folded struct {
	Serial uint64
	Sum    [32]byte // SHA-256 of the file
}

// ProvisionAction is the action of an operation that runs provisioners of an object, which is in the state by
// then.
const ProvisionAction = "provision"

// Unfinished is an operation that began and did not end: the run stopped in the middle of it, so its effect
// is unknown.
type Unfinished struct {
	Object addr.Object
	Action string
}

// Replayed is the outcome of a replay. Changes is how many results were applied.
type Replayed struct {
	File       *File // the base itself if there were no changes; nil if there is neither a base nor a journal
	Changes    int
	Unfinished []Unfinished // in the order in which they began
	Open       []Opening    // ephemeral instances that were left open
	Torn       bool
}

// headerRecord is the first frame of a journal.
type headerRecord struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
	Writer  string `json:"writer"`
}

// record is a member of a batch. One of its fields is set.
type record struct {
	Begin  *beginRecord `json:"begin"`
	Commit *endRecord   `json:"commit"`
	Fail   *endRecord   `json:"fail"`
	Folded *foldedJSON  `json:"folded"`

	Open   *openRecord   `json:"open"`
	Closed *closedRecord `json:"closed"`
}

// beginRecord says that an operation is about to start.
type beginRecord struct {
	ID     uint64       `json:"id"`
	Action string       `json:"action"`
	Object changeRecord `json:"object"`
}

// endRecord has the results of an operation that succeeded or failed.
type endRecord struct {
	ID      uint64         `json:"id"`
	Changes []changeRecord `json:"changes"`
}

// changeRecord is an object in the form of the state file, with one instance.
type changeRecord struct {
	resourceV4
	Removed  bool            `json:"removed"`
	Salts    []saltV4        `json:"salts"`
	Instance json.RawMessage `json:"instance"`
}

// foldedJSON identifies the state file that contains everything in the journal.
type foldedJSON struct {
	Serial uint64 `json:"serial"`
	Sum    string `json:"sha256"`
}

// ParseJournal reads a journal. A write that was cut off at the end is reported as Torn; damage anywhere
// else is ErrJournalCorrupt. It returns nil for a journal that is empty or whose first write was cut off.
// sealer may be nil unless the journal is encrypted.
func ParseJournal(src []byte, sealer Sealer) (*JournalFile, error) {
	frames, torn, err := splitFrames(src)
	if err != nil || len(frames) == 0 {
		return nil, err
	}
	var h headerRecord
	if err := json.Unmarshal(frames[0], &h); err != nil || h.Format != journalFormat {
		return nil, fmt.Errorf("%w: it does not start with a header", ErrJournalCorrupt)
	}
	if h.Version != journalVersion {
		return nil, fmt.Errorf("%w: its format version %d is not known. Use the version of the program that wrote it", ErrJournalCorrupt, h.Version)
	}
	j := &JournalFile{Base: Meta{Lineage: h.Lineage, Serial: h.Serial, Version: h.Writer}, Torn: torn}
	for _, payload := range frames {
		j.Size += int64(payloadStart + len(payload) + 1)
	}
	for i, payload := range frames[1:] {
		records, err := parseRecords(payload, sealer)
		if errors.Is(err, ErrJournalSealed) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d is not what this program writes", ErrJournalCorrupt, i+2)
		}
		j.records = append(j.records, records...)
	}
	return j, j.findFolded()
}

// parseRecords returns the records of a frame, which it decrypts if necessary. Records in clear are refused
// if the configuration requires encryption, since otherwise anyone could write them.
func parseRecords(payload []byte, sealer Sealer) ([]record, error) {
	if payload[0] == '"' {
		if sealer == nil {
			return nil, errNoSealer
		}
		var sealed []byte
		if err := json.Unmarshal(payload, &sealed); err != nil {
			return nil, err
		}
		plain, err := sealer.Unseal(sealed)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrJournalSealed, err)
		}
		payload = plain
	} else if sealer != nil {
		if err := sealer.CheckPlain(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrJournalSealed, err)
		}
	}
	var records []record
	err := json.Unmarshal(payload, &records)
	return records, err
}

// findFolded looks for the last record that names a state file.
func (j *JournalFile) findFolded() error {
	for _, r := range j.records {
		if r.Folded == nil {
			continue
		}
		sum, err := hex.DecodeString(r.Folded.Sum)
		if err != nil || len(sum) != 32 {
			return fmt.Errorf("%w: it has an invalid checksum", ErrJournalCorrupt)
		}
		j.Folded = &Folded{Serial: r.Folded.Serial, Sum: [32]byte(sum)}
	}
	return nil
}

// splitFrames returns the payloads of the valid frames. The writer starts a frame only when all earlier
// ones are on stable storage, so an invalid frame followed by a valid one cannot result from a crash.
func splitFrames(src []byte) (payloads [][]byte, torn bool, err error) {
	damaged := func(why string) error {
		return fmt.Errorf("%w: line %d %s", ErrJournalCorrupt, len(payloads)+1, why)
	}
	for len(src) > 0 {
		payload, ok := firstFrame(src)
		if !ok {
			_, rest, _ := bytes.Cut(src, []byte{'\n'})
			for line := range bytes.SplitAfterSeq(rest, []byte{'\n'}) {
				if _, valid := firstFrame(line); valid {
					return nil, false, damaged("does not match its checksum, but later ones do")
				}
			}
			return payloads, true, nil
		}
		src = src[payloadStart+len(payload):]
		if len(src) == 0 {
			return payloads, true, nil
		}
		if src[0] != '\n' {
			return nil, false, damaged("has no end")
		}
		src = src[1:]
		payloads = append(payloads, payload)
	}
	return payloads, false, nil
}

// firstFrame returns the payload of the frame at the start of src. It ignores the rest of src.
func firstFrame(src []byte) ([]byte, bool) {
	if len(src) <= payloadStart || src[crcEnd] != ' ' { // the checksum covers the other space
		return nil, false
	}
	n, err := strconv.ParseUint(string(src[lengthStart:lengthEnd]), 16, 32)
	if err != nil || n == 0 || n > uint64(len(src)-payloadStart) {
		return nil, false
	}
	end := payloadStart + int(n)
	sum := fmt.Sprintf("%08x", crc32.Checksum(src[lengthStart:end], castagnoli))
	return src[payloadStart:end], string(src[:crcEnd]) == sum // compared as text: another spelling of the same number is damage too
}

// Replay applies the journal to base, which is nil if there is no state file, and returns the resulting
// file, with the next serial if there were changes. It does not modify base. A journal of another lineage
// or serial fails with ErrJournalForeign.
func (j *JournalFile) Replay(base *File) (*Replayed, error) {
	if err := j.belongsTo(base); err != nil {
		return nil, err
	}
	if base == nil {
		base = &File{Meta: j.Base, State: New()}
	}
	changes, unfinished, err := j.operations()
	if err != nil {
		return nil, err
	}
	out := &Replayed{File: base, Changes: len(changes), Unfinished: unfinished, Open: j.Openings(), Torn: j.Torn}
	if len(changes) > 0 {
		next := base.State.Copy()
		for _, c := range changes {
			c.Apply(next)
		}
		out.File = base.Next(next, j.Base.Version)
	}
	return out, nil
}

// operations returns the changes made by the operations in the journal, and the unfinished operations.
func (j *JournalFile) operations() (changes []ObjectChange, unfinished []Unfinished, err error) {
	d := newDecoder()
	begun := map[uint64]Unfinished{}
	for _, r := range j.records {
		if r.Begin != nil {
			o, err := d.changed(&r.Begin.Object)
			if err != nil {
				return nil, nil, err
			}
			begun[r.Begin.ID] = Unfinished{Object: o, Action: r.Begin.Action}
		}
		for _, end := range []*endRecord{r.Commit, r.Fail} {
			if end == nil {
				continue
			}
			delete(begun, end.ID)
			for i := range end.Changes {
				c, err := d.change(&end.Changes[i])
				if err != nil {
					return nil, nil, err
				}
				changes = append(changes, c)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(begun)) {
		unfinished = append(unfinished, begun[id])
	}
	return changes, unfinished, nil
}

// Held handles a state f that the journal does not continue, but that may have all its results. If it has,
// Held returns the same as Replay: f itself, without changes. Otherwise it returns the objects whose last
// result f lacks, in the order of the journal. f may be nil. This happens after a run whose journal failed
// and whose state was saved nevertheless: the state then has a higher serial than the journal's base.
func (j *JournalFile) Held(f *File) (r *Replayed, missing []addr.Object, err error) {
	changes, unfinished, err := j.operations()
	if err != nil {
		return nil, nil, err
	}
	have := New()
	if f != nil {
		have = f.State
	}
	last := map[addr.Object]int{}
	for i, c := range changes {
		last[c.Object] = i
	}
	for i, c := range changes {
		if last[c.Object] == i && !have.Object(c.Object).Equal(c.New) {
			missing = append(missing, c.Object)
		}
	}
	if len(missing) > 0 || f == nil || f.Lineage != j.Base.Lineage || f.Serial <= j.Base.Serial {
		return nil, missing, nil
	}
	return &Replayed{File: f, Unfinished: unfinished, Open: j.Openings(), Torn: j.Torn}, nil, nil
}

// Merge is Replay on a state file that may have the results already: stored are its bytes. It returns nil if
// the journal names them as complete. missing are results that the state is known to lack.
func (j *JournalFile) Merge(f *File, stored []byte) (r *Replayed, missing []addr.Object, err error) {
	if j.Folded != nil && j.Folded.Sum == sha256.Sum256(stored) {
		return nil, nil, nil
	}
	r, err = j.Replay(f)
	if !errors.Is(err, ErrJournalForeign) {
		return r, nil, err
	}
	// A run that could no longer write its journal may have saved its state afterwards, and been killed
	// before it removed the journal.
	held, missing, unheld := j.Held(f)
	if unheld == nil && held != nil {
		return held, nil, nil
	}
	return nil, missing, err
}

// belongsTo returns an error that wraps ErrJournalForeign unless base is the state that the run of the
// journal began with.
func (j *JournalFile) belongsTo(base *File) error {
	switch {
	case base == nil && j.Base.Serial == 0:
		return nil
	case base == nil:
		return fmt.Errorf("%w: it continues serial %d of the lineage %s, but there is no state", ErrJournalForeign, j.Base.Serial, j.Base.Lineage)
	case base.Lineage != j.Base.Lineage:
		return fmt.Errorf("%w: it is of the lineage %s, the state of %s", ErrJournalForeign, j.Base.Lineage, base.Lineage)
	case base.Serial != j.Base.Serial:
		return fmt.Errorf("%w: it continues serial %d, but the state has serial %d, so something else has changed the state since",
			ErrJournalForeign, j.Base.Serial, base.Serial)
	}
	return nil
}

// changed returns the address that a record is about.
func (d *decoder) changed(c *changeRecord) (addr.Object, error) {
	a, err := d.address(&c.resourceV4)
	if err != nil {
		return addr.Object{}, fmt.Errorf("%w: a record has no valid address", ErrJournalCorrupt)
	}
	var in instanceV4
	if err := json.Unmarshal(c.Instance, &in); err != nil {
		return addr.Object{}, fmt.Errorf("%w: a record about %s has no valid instance", ErrJournalCorrupt, a)
	}
	key, err := decodeKey(in.IndexKey)
	if err != nil {
		return addr.Object{}, fmt.Errorf("%w: a record about %s has an invalid key", ErrJournalCorrupt, a)
	}
	return addr.Object{Instance: a.Instance(key), Deposed: addr.Deposed(in.Deposed)}, nil
}

// change decodes a changed object, or the removal of one.
func (d *decoder) change(c *changeRecord) (ObjectChange, error) {
	a, err := d.changed(c)
	salts := decodeSalts(c.Salts)
	if err != nil || c.Removed {
		return ObjectChange{Object: a, Salts: salts}, err
	}
	pc, err := cached(d.providers, c.Provider, parseProviderConfig)
	if err != nil {
		return ObjectChange{}, fmt.Errorf("%w: a record about %s names no valid provider", ErrJournalCorrupt, a)
	}
	o, err := d.instance(c.Instance, a.Module)
	if err != nil {
		return ObjectChange{}, fmt.Errorf("%w: the record about %s: %v", ErrJournalCorrupt, a, err)
	}
	return ObjectChange{Object: a, Provider: pc, New: o, Salts: salts}, nil
}

// instance decodes a single object, with its unknown members.
func (d *decoder) instance(src []byte, m addr.ModuleInstance) (*Object, error) {
	var in instanceV4
	if err := json.Unmarshal(src, &in); err != nil {
		return nil, errors.New("its instance is not valid")
	}
	o, err := d.object(m, &in)
	if err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, errors.New("its instance is not valid")
	}
	o.extra = unknownFields(doc, instanceType)
	return o, nil
}
