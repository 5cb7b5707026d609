// Package corpus tests that configurations get the verdict, and the errors the places, that are recorded for
// them in testdata: OpenTofu's, and where they differ on purpose, Mayfly's with the reason.
//
// TestCorpus of package interop compares the records with a real OpenTofu, and writes them. See there.
package corpus
