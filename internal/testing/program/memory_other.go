//go:build !linux

package program

// inMemory returns "": this system has no disk in memory that is always there.
func inMemory() string { return "" }
