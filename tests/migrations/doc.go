// Package migrations moves states with the mayfly program between the backend postgres and every other place
// that keeps states, and checks that they arrive whole, readable and, where that is asked for, encrypted.
//
// It has tests only, for Unix. They may import the test provider, the servers of internal, package program,
// and sysfault, which ends the program at one of its calls. They must not know any other package of this
// module: they compare the documents of state pull, as a person does.
package migrations
