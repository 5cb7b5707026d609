// Package refusals lets everything go wrong that can go wrong between the program and the service that keeps
// its state, and records the program's output: one file for each kind of backend, for reading.
//
// It may import the packages for tests. It must not know any other package of this module.
package refusals
