package planfile

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Limits on reading, far above the size of real plans. They keep a damaged or malicious file from
// exhausting memory.
const (
	maxEntries = 200_000
	maxEntry   = 2 << 30 // bytes, unpacked
	maxTotal   = 4 << 30 // bytes, unpacked
)

// read reads a saved plan of size bytes. Its errors wrap one of the package's, or come from r; they quote no
// values. The values in the plan are decoded when they are used.
func read(r io.ReaderAt, size int64) (*File, error) {
	f, err := decode(r, size)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// decode is Read for files with any content.
func decode(r io.ReaderAt, size int64) (*File, error) {
	p, err := open(r, size)
	if err != nil {
		return nil, err
	}
	h, err := p.header()
	if err != nil {
		return nil, err
	}
	var doc document
	if err := p.json(entryPlan, &doc); err != nil {
		return nil, err
	}
	d := newDecoder(&doc.tables)
	f := d.file(&doc)
	f.Version = h.Version
	if d.err != nil {
		return nil, d.err
	}
	if f.Plan.Changes, err = p.changes(entryChanges, doc.Changes, d); err != nil {
		return nil, err
	}
	if f.Plan.Drift, err = p.changes(entryDrift, doc.Drift, d); err != nil {
		return nil, err
	}
	if f.Plan.Deferrals, err = p.deferrals(doc.Deferred, d); err != nil {
		return nil, err
	}
	if err := p.parts(f, &doc); err != nil {
		return nil, err
	}
	return f, p.allUsed()
}

// reader gives access to the entries of a file and records their use, because a plan with unused entries is
// refused. An unused entry could be something that the reader of another program would follow.
type reader struct {
	entries map[string]*zip.File
	used    map[string]bool
}

// open reads the directory of the zip file. The limits are checked here, before anything is unpacked, and
// duplicate entries are refused because readers of zip files disagree about which of them counts.
func open(r io.ReaderAt, size int64) (*reader, error) {
	start := make([]byte, min(max(size, 0), int64(len(zipMagic))))
	if n, err := r.ReadAt(start, 0); n < len(start) && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !Is(start) {
		return nil, fmt.Errorf("%w: it is not a zip file. Give the file that was written by plan with the option -out", ErrNotPlan)
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, corrupt("its directory is missing: the file may have been cut off when it was written or copied")
		}
		return nil, err
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%w: it has %d entries, and at most %d are allowed", ErrTooBig, len(z.File), maxEntries)
	}
	p := &reader{entries: make(map[string]*zip.File, len(z.File)), used: map[string]bool{}}
	total := uint64(0)
	for _, f := range z.File {
		if f.UncompressedSize64 > maxEntry || total+f.UncompressedSize64 > maxTotal {
			return nil, fmt.Errorf("%w: its entries are larger than the %d GiB that are allowed", ErrTooBig, maxTotal>>30)
		}
		total += f.UncompressedSize64
		if p.entries[f.Name] != nil {
			return nil, corrupt("its entry %q is there twice", f.Name)
		}
		p.entries[f.Name] = f
	}
	return p, nil
}

// header reads the first entry, which decides whether this program can read the rest. Its errors
// distinguish files of other programs and of other versions from damaged ones.
func (p *reader) header() (header, error) {
	var h header
	if p.entries[entryHeader] == nil {
		if p.entries[entryForeign] != nil {
			return h, fmt.Errorf("%w, OpenTofu or Terraform. Apply it with that program, or make a new plan with this one", ErrForeign)
		}
		return h, fmt.Errorf("%w: it is a zip file with other content. Give the file that was written by plan with the option -out", ErrNotPlan)
	}
	src, err := p.read(entryHeader)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(src, &h); err != nil || h.Format < 1 || h.Version == "" {
		return h, corrupt("its entry %q is not valid", entryHeader)
	}
	if h.Format < oldest || h.Format > format {
		return h, fmt.Errorf("%w, %q, in format %d, and this program reads only formats %d to %d. Apply it with that version, or make the plan again",
			ErrVersion, h.Version, h.Format, oldest, format)
	}
	return h, nil
}

// with calls f with the content of an entry, which must exist.
func (p *reader) with(name string, f func(io.Reader) error) error {
	entry := p.entries[name]
	if entry == nil {
		return corrupt("its entry %q is missing", name)
	}
	p.used[name] = true
	r, err := entry.Open()
	if err != nil {
		return entryError(name, err)
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: int64(entry.UncompressedSize64) + 1}
	if err := f(limited); err != nil {
		return entryError(name, err)
	}
	// The checksum is verified only at the end of the entry.
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return entryError(name, err)
	}
	if limited.N == 0 {
		return corrupt("its entry %q is longer than its directory says", name)
	}
	return nil
}

// entryError describes a failure with an entry, without quoting it.
func entryError(name string, err error) error {
	for _, own := range []error{ErrCorrupt, ErrTooBig, ErrVersion} {
		if errors.Is(err, own) {
			return err
		}
	}
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.Is(err, zip.ErrChecksum):
		return corrupt("the checksum of its entry %q is wrong", name)
	case errors.As(err, &typ):
		return corrupt("in its entry %q, the member %q has the wrong type", name, typ.Field)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return corrupt("its entry %q is incomplete or not valid", name)
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return corrupt("its entry %q has a member that this program does not know", name)
	default:
		return corrupt("its entry %q cannot be read: %v", name, err)
	}
}

// read returns the content of an entry, which must exist.
func (p *reader) read(name string) ([]byte, error) {
	var content []byte
	err := p.with(name, func(r io.Reader) (err error) {
		content, err = io.ReadAll(r)
		return err
	})
	return content, err
}

// optional reads an entry that may be missing; the result is nil then.
func (p *reader) optional(name string) ([]byte, error) {
	if p.entries[name] == nil {
		return nil, nil
	}
	content, err := p.read(name)
	if err == nil && content == nil {
		content = []byte{}
	}
	return content, err
}

// strict returns a decoder that rejects unknown members: they could be instructions that would not be
// followed.
func strict(r io.Reader) *json.Decoder {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	return dec
}

// json decodes an entry that is a single JSON document. A second one is refused: it would be ignored
// otherwise.
func (p *reader) json(name string, v any) error {
	return p.with(name, func(r io.Reader) error {
		dec := strict(r)
		if err := dec.Decode(v); err != nil {
			return err
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return corrupt("its entry %q has more than one document", name)
		}
		return nil
	})
}

// changes reads the changes of an entry. The count in the document makes a cut-off entry an error.
func (p *reader) changes(name string, count int, d *decoder) ([]*plan.Change, error) {
	if count == 0 {
		return nil, nil // allUsed finds leftover entries
	}
	var changes []*plan.Change
	err := p.with(name, func(r io.Reader) error {
		dec := strict(r)
		for {
			var c change
			switch err := dec.Decode(&c); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			changes = append(changes, d.change(&c))
			if d.err != nil {
				return d.err
			}
		}
	})
	if err == nil && len(changes) != count {
		err = corrupt("it records %d changes for its entry %q, which has %d", count, name, len(changes))
	}
	return changes, err
}

// parts reads the parts of a plan that have entries of their own.
func (p *reader) parts(f *File, doc *document) (err error) {
	if f.Plan.Base, err = p.state(entryBase); err != nil {
		return err
	}
	if f.Plan.Base != nil {
		if f.Plan.Adopted, err = p.adopted(doc.Adopted); err != nil {
			return err
		}
		f.Plan.Prior = f.Plan.Base.Copy()
		for _, c := range f.Plan.Adopted {
			c.Apply(f.Plan.Prior)
		}
	}
	if f.Plan.Scope, f.Plan.Settling, err = p.scope(); err != nil {
		return err
	}
	if f.Modules, err = p.optional(entryModules); err != nil {
		return err
	}
	if f.Lock, err = p.optional(entryLock); err != nil {
		return err
	}
	if err = p.schemas(f, doc); err != nil {
		return err
	}
	if len(doc.Config) > 0 {
		f.Config = make(map[string][]byte, len(doc.Config))
	}
	for _, c := range doc.Config {
		if !strings.HasPrefix(c.Entry, configDir) && !strings.HasPrefix(c.Entry, outsideDir) || p.used[c.Entry] {
			return corrupt("the configuration file %q has no entry of its own", c.Path)
		}
		if _, ok := f.Config[c.Path]; ok {
			return corrupt("the configuration file %q is there twice", c.Path)
		}
		if f.Config[c.Path], err = p.read(c.Entry); err != nil {
			return err
		}
	}
	return nil
}

// adopted reads the objects that planning has changed. The count in the document makes a cut-off entry an
// error.
func (p *reader) adopted(count int) ([]state.ObjectChange, error) {
	if count == 0 {
		return nil, nil // allUsed finds a leftover entry
	}
	var changes []state.ObjectChange
	err := p.with(entryAdopted, func(r io.Reader) error {
		dec := json.NewDecoder(r)
		for {
			var line json.RawMessage
			err := dec.Decode(&line)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			c, err := state.DecodeChange(line)
			if err != nil {
				return corrupt("its entry %q has an object that is not valid", entryAdopted)
			}
			changes = append(changes, c)
		}
	})
	if err == nil && len(changes) != count {
		err = corrupt("it records %d changes for its entry %q, which has %d", count, entryAdopted, len(changes))
	}
	return changes, err
}

// schemas reads the schemas of providers.
func (p *reader) schemas(f *File, doc *document) error {
	if len(doc.Schemas) > 0 {
		f.Schemas = make(map[addr.Provider]Schemas, len(doc.Schemas))
	}
	for _, s := range doc.Schemas {
		source, err := addr.ParseProvider(s.Provider)
		if err != nil {
			return corrupt("the provider address %q of its schemas is not valid", s.Provider)
		}
		if _, ok := f.Schemas[source]; ok {
			return corrupt("the schemas of %s are there twice", source)
		}
		if !strings.HasPrefix(s.Entry, schemasDir) || p.used[s.Entry] {
			return corrupt("the schemas of %s have no entry of their own", source)
		}
		types, err := p.read(s.Entry)
		if err != nil {
			return err
		}
		f.Schemas[source] = Schemas{Protocol: s.Protocol, Types: types, Identities: s.Identities}
	}
	return nil
}

// state reads a state entry; nil without an error if there is none.
func (p *reader) state(name string) (*state.State, error) {
	src, err := p.optional(name)
	if err != nil || src == nil {
		return nil, err
	}
	f, err := state.Read(src)
	if err != nil {
		return nil, corrupt("its entry %q is not a state: %s", name, strings.TrimSuffix(firstSentence(err), "."))
	}
	if f == nil {
		return nil, corrupt("its entry %q is empty", name)
	}
	return f.State, nil
}

// firstSentence removes the advice from an error about a state file, which does not apply to one inside a
// plan.
func firstSentence(err error) string {
	text, _, _ := strings.Cut(err.Error(), ". ")
	return text
}

// allUsed reports unreferenced entries: this program could not have written them.
func (p *reader) allUsed() error {
	for _, name := range sortedKeys(p.entries) {
		if !p.used[name] {
			return corrupt("nothing in it refers to its entry %q", name)
		}
	}
	return nil
}

// providerFromText is the inverse of providerText.
func providerFromText(s string) (addr.Provider, error) {
	if s == "" {
		return addr.Provider{}, nil
	}
	return addr.ParseProvider(s)
}

// ReadBytes is Read for a saved plan in memory.
func ReadBytes(src []byte) (*File, error) { return read(bytes.NewReader(src), int64(len(src))) }
