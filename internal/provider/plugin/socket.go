package plugin

import (
	"fmt"
	"os"
	"runtime"

	"github.com/mayfly-iac/mayfly/diag"
)

const (
	// maxSocketPath is the length in bytes of the longest path that a socket can have on all systems.
	maxSocketPath = 103
	// longestSocketName is as long as the longest name that a plugin gives its socket.
	longestSocketName = "plugin4294967295"
	// shortTempDir is where the directory of a socket is if the one for temporary files has a long path.
	shortTempDir = "/tmp"
)

// makeSocketDir makes a directory for the socket of a plugin, which only this user may enter: in the one for
// temporary files, or in short if the path of the socket would be too long there.
func makeSocketDir(short string) (string, error) {
	const pattern = "plugin-dir"
	dir, err := os.MkdirTemp("", pattern)
	if err != nil || runtime.GOOS == "windows" { // plugins serve on ports there
		return dir, err
	}
	if len(dir)+1+len(longestSocketName) <= maxSocketPath {
		return dir, nil
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(short, pattern); err != nil {
		return "", fmt.Errorf("the path of the directory for temporary files, %s, is too long for the socket of a plugin, and %s cannot be used instead: %s. "+
			"Set the environment variable %s to a shorter one", os.TempDir(), short, diag.Reason(err), tempVariable())
	}
	return dir, nil
}
