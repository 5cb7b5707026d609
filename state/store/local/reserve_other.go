//go:build !linux

package local

import "os"

// reserve does nothing: there is no portable way to reserve room without changing the size of a file.
func reserve(*os.File, int64, int64) error { return nil }
