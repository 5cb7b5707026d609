//go:build !unix

package schemacache

import "io/fs"

// plain has no flags: other systems have nothing that would need them.
const plain = 0

// trusted relies on the user's cache directory being the user's own, as it is by default on these systems.
func trusted(fs.FileInfo) bool { return true }
