package planfile

import (
	"cmp"
	"encoding/hex"
	"io"
	"slices"

	"github.com/mayfly-iac/mayfly/state"
)

// scope is the entry with the claims of a plan and the rows that it relies on.
type scope struct {
	Claims   []claim   `json:"claims"`
	Optional [][]claim `json:"optional,omitempty"`
	Relied   []relied  `json:"relied"`

	Moved    map[string]string `json:"moved,omitempty"`
	Imported []string          `json:"imported,omitempty"`
	Results  []result          `json:"results,omitempty"`
}

// result is an output or a check that the run claims, with its units.
type result struct {
	subject
	Units []unit `json:"units"`
}

// unit is a part of the configuration that was evaluated as a whole, and the parts of the state that it was
// evaluated from.
type unit struct {
	Kind  state.UnitKind `json:"kind"`
	Addr  string         `json:"address"`
	Block string         `json:"block"`
	Reads []subject      `json:"reads"`
}

// subject names a part of a state.
type subject struct {
	Kind   state.SubjectKind `json:"kind"`
	Addr   string            `json:"address,omitempty"`
	Within string            `json:"within,omitempty"`
}

type claim struct {
	subject
	Mode state.ClaimMode `json:"mode"`
}

// relied are the rows of a subject.
type relied struct {
	subject
	Rows []row `json:"rows"`
}

// row is a row with its version in hexadecimal digits, or something unrecorded.
type row struct {
	Address    string `json:"address"`
	Deposed    string `json:"deposed,omitempty"`
	Unrecorded string `json:"unrecorded,omitempty"`
	Version    string `json:"version"`
}

func (s subject) compare(t subject) int {
	return cmp.Or(cmp.Compare(s.Kind, t.Kind), cmp.Compare(s.Addr, t.Addr), cmp.Compare(s.Within, t.Within))
}

// scope writes the scope of a plan. A plan without one has no such entry.
func (p *writer) scope(s *state.Scope) {
	if s == nil {
		return
	}
	doc := scope{Claims: encodeClaims(s.Claims), Relied: []relied{}, Moved: s.Moved, Imported: s.Imported}
	for _, claims := range s.Optional {
		doc.Optional = append(doc.Optional, encodeClaims(claims))
	}
	for of, rows := range s.Relied {
		r := relied{subject: subject(of), Rows: []row{}}
		for name, version := range rows {
			r.Rows = append(r.Rows, row{name.Address, name.Deposed, name.Unrecorded, hex.EncodeToString(version[:])})
		}
		slices.SortFunc(r.Rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Deposed, b.Deposed), cmp.Compare(a.Unrecorded, b.Unrecorded))
		})
		doc.Relied = append(doc.Relied, r)
	}
	for of, units := range s.Results {
		r := result{subject: subject(of), Units: []unit{}}
		for _, u := range units {
			out := unit{u.Unit.Kind, u.Unit.Addr, u.Block.String(), []subject{}}
			for _, s := range u.Reads {
				out.Reads = append(out.Reads, subject(s))
			}
			r.Units = append(r.Units, out)
		}
		doc.Results = append(doc.Results, r)
	}
	slices.SortFunc(doc.Results, func(a, b result) int { return a.compare(b.subject) })
	slices.SortFunc(doc.Relied, func(a, b relied) int { return a.compare(b.subject) })
	p.entry(entryScope, func(w io.Writer) error { return lineEncoder(w).Encode(doc) })
}

func encodeClaims(c state.Claims) []claim {
	out := []claim{}
	for of, mode := range c {
		out = append(out, claim{subject(of), mode})
	}
	slices.SortFunc(out, func(a, b claim) int { return a.compare(b.subject) })
	return out
}

// scope reads the scope of a plan; nil if it has none.
func (p *reader) scope() (*state.Scope, error) {
	if p.entries[entryScope] == nil {
		return nil, nil
	}
	var doc scope
	if err := p.json(entryScope, &doc); err != nil {
		return nil, err
	}
	out := &state.Scope{Relied: make(map[state.Subject]state.RowSet, len(doc.Relied)), Moved: doc.Moved, Imported: doc.Imported}
	var err error
	if out.Claims, err = decodeClaims(doc.Claims); err != nil {
		return nil, err
	}
	for _, claims := range doc.Optional {
		c, err := decodeClaims(claims)
		if err != nil {
			return nil, err
		}
		if c.Subject() == (state.Subject{}) {
			return nil, corrupt("its entry %q has a claim on no instance", entryScope)
		}
		out.Optional = append(out.Optional, c)
	}
	for _, r := range doc.Relied {
		rows := state.RowSet{}
		for _, w := range r.Rows {
			var version state.Version
			if n, err := hex.Decode(version[:], []byte(w.Version[:min(len(w.Version), 2*len(version))])); err != nil || n < len(version) || len(w.Version) != 2*len(version) {
				return nil, corrupt("its entry %q has a version that is not valid", entryScope)
			}
			rows[state.RowName{Address: w.Address, Deposed: w.Deposed, Unrecorded: w.Unrecorded}] = version
		}
		out.Relied[state.Subject(r.subject)] = rows
	}
	out.Results = decodeResults(doc.Results)
	return out, nil
}

func decodeResults(list []result) map[state.Subject][]state.Finding {
	if len(list) == 0 {
		return nil
	}
	out := map[state.Subject][]state.Finding{}
	for _, r := range list {
		var units []state.Finding
		for _, u := range r.Units {
			f := state.Finding{Unit: state.Unit{Kind: u.Kind, Addr: u.Addr}, Block: state.ParseBlock(u.Block)}
			for _, s := range u.Reads {
				f.Reads = append(f.Reads, state.Subject(s))
			}
			units = append(units, f)
		}
		out[state.Subject(r.subject)] = units
	}
	return out
}

func decodeClaims(list []claim) (state.Claims, error) {
	out := state.Claims{}
	for _, c := range list {
		switch c.Mode {
		case state.Shared, state.Intent, state.Exclusive:
		default:
			return nil, corrupt("its entry %q has a claim of an unknown mode", entryScope)
		}
		out[state.Subject(c.subject)] = c.Mode
	}
	return out, nil
}
