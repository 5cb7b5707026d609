//go:build !unix

package safefile

import "os"

func block(*os.File) error { return nil }
