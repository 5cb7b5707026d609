package planfile

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Write writes a saved plan to w. Equal files give equal bytes. It fails if the format cannot represent the
// plan, which indicates a bug in its maker, or with an error of w; w's content is useless then. The plan is
// not changed.
func Write(w io.Writer, f *File) error {
	if f.Plan == nil || f.Version == "" {
		return errors.New("a saved plan needs a plan and the version of the program that made it")
	}
	p := &writer{zip: zip.NewWriter(w)}
	p.entry(entryHeader, func(w io.Writer) error { return json.NewEncoder(w).Encode(header{Format: format, Version: f.Version}) })
	doc := &document{}
	e := newEncoder()
	p.changes(entryChanges, f.Plan.Changes, e)
	p.changes(entryDrift, f.Plan.Drift, e)
	p.deferrals(f.Plan.Deferrals, e)
	p.do(func() error { return e.document(doc, f) })
	p.config(doc, f.Config)
	p.schemas(doc, f.Schemas)
	p.state(f.Plan.Base, f)
	p.adopted(doc, f.Plan.Adopted)
	p.scope(f.Plan.Scope, f.Plan.Settling)
	p.bytes(entryModules, f.Modules)
	p.bytes(entryLock, f.Lock)
	p.entry(entryPlan, func(w io.Writer) error {
		doc.tables = e.tables
		return lineEncoder(w).Encode(doc)
	})
	p.do(p.zip.Close)
	return p.err
}

// writer writes entries until the first error.
type writer struct {
	zip *zip.Writer
	err error
}

// do calls f unless there was an error.
func (p *writer) do(f func() error) {
	if p.err == nil {
		p.err = f()
	}
}

// epoch is the time of all entries, the earliest that zip files can express. The plan records when it was
// made.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// entry writes an entry. The tiny header is stored uncompressed.
func (p *writer) entry(name string, content func(io.Writer) error) {
	p.do(func() error {
		method := zip.Deflate
		if name == entryHeader {
			method = zip.Store
		}
		w, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: epoch})
		if err != nil {
			return err
		}
		return content(w)
	})
}

// bytes writes an entry with the given content, and none if that is nil.
func (p *writer) bytes(name string, content []byte) {
	if content == nil {
		return
	}
	p.entry(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// changes writes changes as one JSON document per line. An entry without changes is not written.
func (p *writer) changes(name string, changes []*plan.Change, e *encoder) {
	if len(changes) == 0 {
		return
	}
	p.entry(name, func(w io.Writer) error {
		lines := lineEncoder(w)
		for _, c := range changes {
			encoded, err := e.change(c)
			if err != nil {
				return fmt.Errorf("saving the change of %s: %w", c.Object(), err)
			}
			if err := lines.Encode(encoded); err != nil {
				return err
			}
		}
		return nil
	})
}

// lineEncoder returns an encoder that writes one line per document and leaves <, > and & as they are.
func lineEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// config writes the configuration files and lists them in the document. A path outside the root directory
// cannot be an entry's name, so such files get a number.
func (p *writer) config(doc *document, files map[string][]byte) {
	for i, path := range slices.Sorted(maps.Keys(files)) {
		if err := checkText(path); err != nil {
			p.do(func() error { return fmt.Errorf("the path of a configuration file: %w", err) })
			return
		}
		entry := outsideDir + strconv.Itoa(i)
		if fs.ValidPath(path) && path != "." {
			entry = configDir + path
		}
		doc.Config = append(doc.Config, configFile{Path: path, Entry: entry})
		p.entry(entry, func(w io.Writer) error {
			_, err := w.Write(files[path])
			return err
		})
	}
}

// schemas writes the schemas of providers and lists them in the document.
func (p *writer) schemas(doc *document, of map[addr.Provider]Schemas) {
	for i, source := range slices.SortedFunc(maps.Keys(of), func(a, b addr.Provider) int { return strings.Compare(a.String(), b.String()) }) {
		s, entry := of[source], schemasDir+strconv.Itoa(i)
		doc.Schemas = append(doc.Schemas, schemas{Provider: source.String(), Protocol: s.Protocol, Entry: entry, Identities: s.Identities})
		p.entry(entry, func(w io.Writer) error {
			_, err := w.Write(s.Types)
			return err
		})
	}
}

// adopted writes the objects that planning has changed, one per line. An entry without any is not written.
func (p *writer) adopted(doc *document, changes []state.ObjectChange) {
	doc.Adopted = len(changes)
	if len(changes) == 0 {
		return
	}
	p.entry(entryAdopted, func(w io.Writer) error {
		for _, c := range changes {
			if _, err := w.Write(append(state.EncodeChange(c), '\n')); err != nil {
				return err
			}
		}
		return nil
	})
}

// state writes the state that the plan was made from as a state file, without the salts of fingerprints: an
// apply takes them from the state itself, and a plan must not be enough to guess secrets from. The plan
// records the metadata of the state itself, since a state that was never stored has no lineage yet.
func (p *writer) state(s *state.State, f *File) {
	if s == nil {
		return
	}
	m := f.Plan.Meta
	m.Lineage = cmp.Or(m.Lineage, "none")
	m.Version = cmp.Or(m.Version, f.Version)
	unsalted := *s
	unsalted.Salts = nil
	p.entry(entryBase, func(w io.Writer) error { return state.Encode(w, &state.File{Meta: m, State: &unsalted}) })
}
