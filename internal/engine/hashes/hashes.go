// Package hashes hashes the configuration of a run, for a store that compares the hashes with its own.
//
// It may import addr, blocks, blockhash, funcs, fingerprint, state and cty. It must not know how a state is
// stored, or providers' processes.
package hashes

import (
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
	out := &Set{opt.Key, set, state.BlockHashes{}}
	for _, m := range set.Modules() {
		hashes := state.ModuleHashes{Module: m.Path}
		for _, e := range m.Entries {
			b := state.BlockHash{Name: e.Name, Always: always(cfg.Modules[m.Path], e.Name)}
			if e.Known {
				b.Hash = state.Hash(e.Hash)
			}
			hashes.Blocks = append(hashes.Blocks, b)
		}
		out.blocks = append(out.blocks, hashes)
	}
	return out, nil
}

// always reports whether the units of a block are due in every plan: data sources, and checks with one.
func always(m *blocks.Module, name string) bool {
	if check, is := strings.CutPrefix(name, "check."); is {
		return m.Checks[check].Nested != nil
	}
	return strings.HasPrefix(name, "data.")
}
