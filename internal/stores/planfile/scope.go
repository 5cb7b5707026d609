package planfile

import (
	"io"
	"slices"

	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// scope is the entry with the claims of a plan and the rows that it relies on.
type scope struct {
	Claims   []claim   `json:"claims"`
	Optional [][]claim `json:"optional,omitempty"`
	Relied   []relied  `json:"relied"`

	Moved    map[string]string `json:"moved,omitempty"`
	Imported []string          `json:"imported,omitempty"`
	Left     []string          `json:"left,omitempty"` // from format 7 on
	Results  []result          `json:"results,omitempty"`

	Hashes   []moduleHashes `json:"hashes,omitempty"`   // from format 7 on
	Settling *settling      `json:"settling,omitempty"` // from format 7 on
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
	Gone  bool           `json:"gone,omitempty"`
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

// scope writes the scope of a plan, and the units that it may settle. A plan without one has no such entry.
func (p *writer) scope(s *state.Scope, settles *plan.Settling) {
	if s == nil {
		return
	}
	doc := scope{Claims: encodeClaims(s.Claims), Relied: encodeRelied(s.Relied), Moved: s.Moved, Imported: s.Imported, Left: s.Left, Hashes: encodeHashes(s.Hashes), Settling: encodeSettling(settles)}
	for _, claims := range s.Optional {
		doc.Optional = append(doc.Optional, encodeClaims(claims))
	}
	for of, units := range s.Results {
		doc.Results = append(doc.Results, result{subject: subject(of), Units: encodeUnits(units)})
	}
	slices.SortFunc(doc.Results, func(a, b result) int { return a.compare(b.subject) })
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

// scope reads the scope of a plan, and the units that it may settle; nil if it has none.
func (p *reader) scope() (*state.Scope, *plan.Settling, error) {
	if p.entries[entryScope] == nil {
		return nil, nil, nil
	}
	var doc scope
	if err := p.json(entryScope, &doc); err != nil {
		return nil, nil, err
	}
	out := &state.Scope{Moved: doc.Moved, Imported: doc.Imported, Left: doc.Left}
	var err error
	if out.Claims, err = decodeClaims(doc.Claims); err != nil {
		return nil, nil, err
	}
	for _, claims := range doc.Optional {
		c, err := decodeClaims(claims)
		if err != nil {
			return nil, nil, err
		}
		if c.Subject() == (state.Subject{}) {
			return nil, nil, corrupt("its entry %q has a claim on no instance", entryScope)
		}
		out.Optional = append(out.Optional, c)
	}
	if out.Relied, err = decodeRelied(doc.Relied); err != nil {
		return nil, nil, err
	}
	out.Results = decodeResults(doc.Results)
	if out.Hashes, err = decodeHashes(doc.Hashes); err != nil || doc.Settling == nil {
		return out, nil, err
	}
	settles := &plan.Settling{Hashes: out.Hashes, Moment: doc.Settling.Moment, Full: doc.Settling.Full, Units: decodeUnits(doc.Settling.Units)}
	settles.Relied, err = decodeRelied(doc.Settling.Relied)
	return out, settles, err
}

func decodeResults(list []result) map[state.Subject][]state.Finding {
	if len(list) == 0 {
		return nil
	}
	out := map[state.Subject][]state.Finding{}
	for _, r := range list {
		out[state.Subject(r.subject)] = decodeUnits(r.Units)
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
