// Package hashes hashes the configuration of a run, for a store that compares the hashes with its own.
//
// It may import addr, blocks, blockhash, funcs, fingerprint, state and cty. It must not know how a state is
// stored, or providers' processes.
package hashes

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blockhash"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/state"
)

// Options are everything that hashes depend on besides the configuration.
type Options struct {
	Key       []byte               // of the workspace
	Variables map[string]cty.Value // of the root module, set ones only, unmarked, of the declared type
	Workspace string
	RootDir   string // for path.root
	WorkDir   string // absolute, for path.cwd and names of files
	// Version returns the version of a provider; false for one under development.
	Version func(addr.Provider) (string, bool)
	// Interrupted ends the computation when it is closed.
	Interrupted <-chan struct{}
}

// Set has the hashes of a configuration. A nil *Set has none.
type Set struct {
	key    []byte
	set    *blockhash.Set
	blocks state.BlockHashes
}

// Key returns the key; nil if the hashes are not known.
func (s *Set) Key() []byte {
	if s == nil {
		return nil
	}
	return s.key
}

// Blocks returns the hashes for the store; nil if they are not known.
func (s *Set) Blocks() state.BlockHashes {
	if s == nil {
		return nil
	}
	return s.blocks
}

// Components returns the blocks in an order in which they can be planned; none if they are not known.
func (s *Set) Components() []blockhash.Component {
	if s == nil {
		return nil
	}
	return s.set.Components()
}

// Of hashes all blocks of a configuration that compiled without errors.
func Of(cfg *blocks.Config, opt Options) (*Set, error) {
	slow := fingerprint.New([]fingerprint.Salt{fingerprint.SaltOf(opt.Key)}, nil)
	set, err := blockhash.Of(cfg, blockhash.Inputs{
		Key: opt.Key, Variables: opt.Variables, Workspace: opt.Workspace, RootDir: opt.RootDir, WorkDir: opt.WorkDir, Version: opt.Version, Interrupted: opt.Interrupted,
		Functions: funcs.Table(funcs.Options{BaseDir: opt.WorkDir, PureOnly: true, Interrupted: opt.Interrupted}),
		Slow: func(v cty.Value) ([]byte, error) {
			sum, _, err := slow.Sum(v, "the hash of a block")
			return sum, err
		},
	})
	if err != nil {
		return nil, err
	}
	out, values := &Set{opt.Key, set, state.BlockHashes{}}, setsOf(cfg)
	for _, m := range set.Modules() {
		hashes := state.ModuleHashes{Module: m.Path}
		for _, e := range m.Entries {
			b := state.BlockHash{Name: e.Name, Always: always(cfg.Modules[m.Path], e.Name)}
			if e.Known {
				b.Hash = state.Hash(e.Hash)
			}
			hashes.Blocks = append(hashes.Blocks, b)
		}
		mac := hmac.New(sha256.New, opt.Key)
		_, _ = fmt.Fprintf(mac, "unread %q", slices.Sorted(slices.Values(values[m.Path])))
		hashes.Blocks = append(hashes.Blocks, state.BlockHash{Name: "values", Hash: state.Hash(mac.Sum(nil))})
		slices.SortFunc(hashes.Blocks, func(a, b state.BlockHash) int { return strings.Compare(a.Name, b.Name) })
		out.blocks = append(out.blocks, hashes)
	}
	return out, nil
}

// setsOf returns the content of the hash of each module's set of unread values, which may be empty. The
// values have hashes of their own, but none of these changes when the last block goes that has read a value.
func setsOf(cfg *blocks.Config) map[addr.Module][]string {
	out := map[addr.Module][]string{}
	for v := range cfg.Unread() {
		out[v.Module.Config.Path] = append(out[v.Module.Config.Path], v.Address())
	}
	return out
}

// always reports whether the units of a block are due in every plan: data sources, and checks with one.
func always(m *blocks.Module, name string) bool {
	if check, is := strings.CutPrefix(name, "check."); is {
		return m.Checks[check].Nested != nil
	}
	return strings.HasPrefix(name, "data.")
}
