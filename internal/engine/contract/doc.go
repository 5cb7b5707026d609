// Package contract has the rules of what passes between the engine and a provider about one object. It begins
// in answer.go with Checker, which holds an answer against the rules and describes what breaks them; leak.go
// finds secrets that a provider copied. ignore.go makes the configuration that a provider is given where
// ignore_changes applies, compare.go says which differences count, and
// identity.go completes the identities of objects to import.
//
// It may import schema, whose predicates define what is valid, and config for the lifecycle arguments. Its
// functions depend on values and schemas only: it must not know how providers are called, nor what is done
// about an answer that breaks the rules.
package contract
