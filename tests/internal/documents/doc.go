// Package documents makes an engine produce all its machine-readable documents for a configuration, and
// compares those of two engines, or of one engine at two times, key by key.
//
// A case is a txtar archive. Its comment says what is run, its files are the configuration; see Load for the
// form.
//
// It may import the standard library and the txtar format. It must not know what the documents mean, apart
// from which parts of them are different at each run (see normalise): the tests that use it see the programs
// from outside.
package documents
