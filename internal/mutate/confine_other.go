//go:build !linux

package main

// confine returns an error: mutants are run on Linux only.
func confine() (int, bool, error) { return 0, false, errUnconfined }
