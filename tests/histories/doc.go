// Package histories has many runs of the engine, within the process of the test, change one state in
// PostgreSQL at the same time, while the network, the server and the runs fail. It checks that some order of
// the runs explains the objects that are left.
//
// It has tests only. They use the library as a program does, and know the store of the states.
package histories
