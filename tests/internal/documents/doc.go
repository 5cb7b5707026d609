// Package documents makes an engine produce all its machine-readable documents for a configuration, and
// compares the documents of two engines, or of one engine at two times, key by key.
//
// A case is a txtar archive. Its comment lists the commands, its files are the configuration; see Load for
// the form.
//
// It may import the standard library and the txtar format. It must not know the meaning of documents, apart
// from the parts of them that are different at each run (see normalise): the tests that use it see the
// programs from outside.
package documents
