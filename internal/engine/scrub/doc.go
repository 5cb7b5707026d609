// Package scrub takes out of states what is in write-only attributes: another engine, or a provider for which
// an attribute was not write-only yet, may have left it there.
//
// It may import state, and schema for which attributes these are. It must not know providers: schemas are
// given to it.
package scrub
