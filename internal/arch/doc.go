// Package arch holds the tests that keep the shape of this module: which package may import which, how long
// files and functions may grow, what must be documented, and which words have no place in sources.
//
// Start reading at layers_test.go: the table there is the import graph as it is meant to be, with the reason
// for each rule. The tests read the sources of the module and nothing else.
//
// It may import the standard library only. It must not be imported.
package arch
