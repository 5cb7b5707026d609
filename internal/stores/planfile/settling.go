package planfile

import (
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// settling has the units that an apply may settle.
type settling struct {
	Moment int64    `json:"moment"`
	Full   bool     `json:"full,omitempty"`
	Units  []unit   `json:"units"`
	Relied []relied `json:"relied"`
}

// moduleHashes are the keyed hashes of the blocks of a module.
type moduleHashes struct {
	Module string      `json:"module,omitempty"`
	Blocks []blockHash `json:"blocks"`
}

// blockHash is the hash of a block in hexadecimal digits; "" for none.
type blockHash struct {
	Name   string `json:"name"`
	Hash   string `json:"hash,omitempty"`
	Always bool   `json:"always,omitempty"`
}

func (s subject) compare(t subject) int {
	return cmp.Or(cmp.Compare(s.Kind, t.Kind), cmp.Compare(s.Addr, t.Addr), cmp.Compare(s.Within, t.Within))
}

func encodeSettling(s *plan.Settling) *settling {
	if s == nil {
		return nil
	}
	return &settling{Moment: s.Moment, Full: s.Full, Units: encodeUnits(s.Units), Relied: encodeRelied(s.Relied)}
}

func encodeUnits(units []state.Finding) []unit {
	out := []unit{}
	for _, u := range units {
		one := unit{Kind: u.Unit.Kind, Addr: u.Unit.Addr, Block: u.Block.String(), Reads: []subject{}, Gone: u.Gone}
		for _, s := range u.Reads {
			one.Reads = append(one.Reads, subject(s))
		}
		out = append(out, one)
	}
	return out
}

func decodeUnits(units []unit) (out []state.Finding) {
	for _, u := range units {
		f := state.Finding{Unit: state.Unit{Kind: u.Kind, Addr: u.Addr}, Block: state.ParseBlock(u.Block), Gone: u.Gone}
		for _, s := range u.Reads {
			f.Reads = append(f.Reads, state.Subject(s))
		}
		out = append(out, f)
	}
	return out
}

func encodeRelied(sets map[state.Subject]state.RowSet) []relied {
	out := []relied{}
	for of, rows := range sets {
		r := relied{subject: subject(of), Rows: []row{}}
		for name, version := range rows {
			r.Rows = append(r.Rows, row{name.Address, name.Deposed, name.Unrecorded, hex.EncodeToString(version[:])})
		}
		slices.SortFunc(r.Rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Deposed, b.Deposed), cmp.Compare(a.Unrecorded, b.Unrecorded))
		})
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b relied) int { return a.compare(b.subject) })
	return out
}

func decodeRelied(list []relied) (map[state.Subject]state.RowSet, error) {
	out := make(map[state.Subject]state.RowSet, len(list))
	for _, r := range list {
		rows := state.RowSet{}
		for _, w := range r.Rows {
			var version state.Version
			if !decodeHex(version[:], w.Version) {
				return nil, corrupt("its entry %q has a version that is not valid", entryScope)
			}
			rows[state.RowName{Address: w.Address, Deposed: w.Deposed, Unrecorded: w.Unrecorded}] = version
		}
		out[state.Subject(r.subject)] = rows
	}
	return out, nil
}

// decodeHex decodes hexadecimal digits, and returns false unless they fill to.
func decodeHex(to []byte, text string) bool {
	if len(text) != 2*len(to) {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}

// encodeHash encodes a hash, "" for none.
func encodeHash(h state.Hash) string {
	if !h.Known() {
		return ""
	}
	return hex.EncodeToString(h[:])
}

func encodeHashes(hashes state.BlockHashes) (out []moduleHashes) {
	for _, m := range hashes {
		one := moduleHashes{Module: m.Module.String(), Blocks: []blockHash{}}
		for _, b := range m.Blocks {
			one.Blocks = append(one.Blocks, blockHash{b.Name, encodeHash(b.Hash), b.Always})
		}
		out = append(out, one)
	}
	return out
}

func decodeHashes(list []moduleHashes) (state.BlockHashes, error) {
	var out state.BlockHashes
	for _, m := range list {
		one := state.ModuleHashes{}
		if m.Module != "" {
			in, err := addr.ParseModuleInstance(m.Module)
			if err != nil {
				return nil, corrupt("its entry %q has the address of a module that is not valid", entryScope)
			}
			one.Module = in.Module()
		}
		for _, b := range m.Blocks {
			h := state.BlockHash{Name: b.Name, Always: b.Always}
			if b.Hash != "" && !decodeHex(h.Hash[:], b.Hash) {
				return nil, corrupt("its entry %q has a hash that is not valid", entryScope)
			}
			one.Blocks = append(one.Blocks, h)
		}
		out = append(out, one)
	}
	return out, nil
}
