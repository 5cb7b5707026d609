// Package kill ends the mayfly program in the middle of a command, with SIGKILL and the signals that ask it
// to end, or lets its writes fail, and checks that nothing is lost: neither results in the state, nor
// objects, nor open ephemerals, nor the lock.
//
// It has tests only, for Unix. They may import the test provider, its transcript, the servers of internal,
// package program, sysfault, which fails calls of the program, tcpproxy, which breaks connections, and
// powercut, a disk that loses writes that were not synchronized. They must not know any other package of this
// module: they look at the files and the next command, as a person does.
package kill
