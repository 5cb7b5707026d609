//go:build !unix

package schemacache

import "io/fs"

// plain is empty: these systems need no additional flags.
const plain = 0

// trusted returns true, relying on the default that a user's cache directory is private on these systems.
func trusted(fs.FileInfo) bool { return true }
