// Package claims has several runs of the mayfly program change one state in PostgreSQL at the same time, and
// checks that they exclude each other where they touch, and only there.
//
// It has tests only, for Unix. They may import the test provider, the server, the proxy before it, and
// package program. They must not know any other package of this module: they look at the database, the
// objects of the provider and the next command, as a person does.
package claims
