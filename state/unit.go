package state

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// UnitKind is a kind of Unit.
type UnitKind string

// The kinds.
const (
	InstanceUnit   UnitKind = "instance"   // of a managed or data resource, with its conditions
	RepetitionUnit UnitKind = "repetition" // of a resource or a call in one module instance
	OutputUnit     UnitKind = "output"     // of the root module
	CheckUnit      UnitKind = "check"      // a check block, or the conditions of a variable or output, in one module instance
	ValuesUnit     UnitKind = "values"     // locals and outputs of one module instance that nothing else reads
)

// Unit is a part of a configuration that is evaluated as a whole. Addr is the address of the instance,
// resource, call or check with the keys of the modules around it, the name of the output, or the address of a
// module instance, "" for the root module. It is comparable.
type Unit struct {
	Kind UnitKind
	Addr string
}

// UnitOf returns the unit of an instance.
func UnitOf(a addr.Instance) Unit { return Unit{Kind: InstanceUnit, Addr: a.String()} }

// Key returns the text that tells a unit from all others. Of units that can be claimed, it is the key of the
// subject.
func (u Unit) Key() string {
	if u.Kind == InstanceUnit {
		return u.Addr
	}
	return string(u.Kind) + " " + u.Addr
}

// ParseUnit returns the unit with a key.
func ParseUnit(key string) Unit {
	word, rest, _ := strings.Cut(key, " ")
	switch kind := UnitKind(word); kind {
	case RepetitionUnit, OutputUnit, CheckUnit, ValuesUnit:
		return Unit{Kind: kind, Addr: rest}
	}
	return Unit{Kind: InstanceUnit, Addr: key}
}

// Hash is the keyed hash of a block, or of the evaluated configuration of an object. The zero one stands for
// none, and is not equal to itself where hashes are compared.
type Hash [sha256.Size]byte

// Known reports whether it is not the zero one.
func (h Hash) Known() bool { return h != Hash{} }

// Is reports whether both are known and equal.
func (h Hash) Is(other Hash) bool { return h.Known() && h == other }

// String returns the first digits.
func (h Hash) String() string { return hex.EncodeToString(h[:4]) }

// Block names a block of a module, in all instances of the module. Name is the block's address within the
// module. "resource." comes before the address of a managed resource, and "repetition." before the address of
// a resource for its count, for_each or enabled. A call stands for its repetition. "values" are the locals
// and outputs that nothing else reads, whose hash is of their set. It is comparable.
type Block struct {
	Module addr.Module
	Name   string
}

// String returns the address, which no other block has.
func (b Block) String() string { return b.Module.Join(b.Name) }

// BlockOf returns the block of a resource.
func BlockOf(r addr.ConfigResource) Block {
	name := r.Resource.String()
	if r.Resource.Mode == addr.Managed {
		name = "resource." + name
	}
	return Block{Module: r.Module, Name: name}
}

// RepetitionOf returns the repetition of a resource.
func RepetitionOf(r addr.ConfigResource) Block {
	b := BlockOf(r)
	b.Name = "repetition." + b.Name
	return b
}

// ParseBlock returns the block with an address.
func ParseBlock(address string) Block {
	b := Block{Name: address}
	for strings.HasPrefix(b.Name, "module.") {
		parts := strings.SplitN(b.Name, ".", 3)
		if len(parts) < 3 {
			break // the call itself
		}
		b.Module, b.Name = b.Module.Child(parts[1]), parts[2]
	}
	return b
}

// CheckBlock returns the block of a check with a static address, as results have it: also the block of a
// resource, for its conditions.
func CheckBlock(address string) Block {
	b := ParseBlock(address)
	for _, word := range []string{"check.", "output.", "var.", "data.", "ephemeral."} {
		if strings.HasPrefix(b.Name, word) {
			return b
		}
	}
	b.Name = "resource." + b.Name
	return b
}

// BlockHashes are the hashes of all blocks of a configuration, in the order of modules and of names. Nil says
// that they are not known.
type BlockHashes []ModuleHashes

// ModuleHashes are the hashes of the blocks of a module.
type ModuleHashes struct {
	Module addr.Module
	Blocks []BlockHash // in the order of their names
}

// BlockHash is the hash of a block; zero if the block looks at the world, so that its value may differ at any
// time. Always says that all units of the block are due, with any hash: data sources, and checks with
// one.
type BlockHash struct {
	Name   string
	Hash   Hash
	Always bool
}

// Record names everything that a unit was evaluated from when it was last found or made right.
type Record struct {
	Unit  Unit
	Block Block
	// Version is the one that the row of the instance had then; zero for units without rows, and for
	// results. A record with another version than the row has is void.
	Version Version
	// Reads are the keys of the subjects that the unit was evaluated from, directly or indirectly.
	Reads []string
	// Seen is the hash that the block had, and Given the hash of the evaluated configuration.
	Seen, Given Hash
}
