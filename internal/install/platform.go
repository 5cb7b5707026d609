package install

import (
	"runtime"
	"strings"
)

// Platform is the platform that a package is built for.
type Platform struct{ OS, Arch string }

// CurrentPlatform returns the platform of this program.
func CurrentPlatform() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// String returns the form used in file names, such as "linux_amd64".
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// parsePlatform parses the form of String.
func parsePlatform(s string) (Platform, bool) {
	goos, arch, ok := strings.Cut(s, "_")
	if !ok || !isWord(goos) || !isWord(arch) {
		return Platform{}, false
	}
	return Platform{goos, arch}, true
}

// isWord reports whether s consists of lower-case letters and digits, like the names of systems and
// architectures. Servers send them, and they become parts of directory names and messages.
func isWord(s string) bool {
	const good = "abcdefghijklmnopqrstuvwxyz0123456789"
	return s != "" && strings.Trim(s, good) == ""
}
