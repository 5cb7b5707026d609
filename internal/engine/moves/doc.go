// Package moves applies moved blocks to a state: it says which object of the state is at which address in the
// configuration. It begins in moves.go with Apply. A block is parsed in block.go and matched against
// addresses in match.go; follow.go lets objects follow the blocks, cycle.go finds blocks that lead nowhere,
// and implied.go follows changes of count, which need no block.
//
// It may import the models of configuration and state. It must not know providers, values or evaluation:
// addresses decide about everything here, and converting an object to another type is the engine's work.
package moves
