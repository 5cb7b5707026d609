// Package contract has the rules for requests and answers between the engine and a provider about one object.
// It begins in answer.go with Checker, which checks an answer against the rules and describes violations;
// leak.go finds secrets that a provider copied. ignore.go makes the configuration that a provider is given
// where ignore_changes applies, compare.go says which differences count, and identity.go completes the
// identities of objects to import.
//
// It may import schema, whose predicates define valid answers, and config for the lifecycle arguments. Its
// functions depend on values and schemas only: it must not know how providers are called, nor how violations
// are handled.
package contract
