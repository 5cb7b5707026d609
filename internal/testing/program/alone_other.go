//go:build !linux && !darwin

package program

// alone does nothing: this system has no locks on directories.
func alone() (release func()) { return func() {} }
