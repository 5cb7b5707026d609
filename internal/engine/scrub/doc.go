// Package scrub takes values of write-only attributes out of states: another engine, or a provider for which
// an attribute was not write-only yet, may have left them there.
//
// It may import state, and schema for which attributes these are. It must not know providers: schemas are
// given to it.
package scrub
