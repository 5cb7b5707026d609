package install

import (
	"runtime"
	"strings"
)

// Platform is what a package is built for.
type Platform struct{ OS, Arch string }

// CurrentPlatform returns the platform of this program.
func CurrentPlatform() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// String returns the form used in file names, such as "linux_amd64".
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// parsePlatform parses the form of String.
func parsePlatform(s string) (Platform, bool) {
	goos, arch, ok := strings.Cut(s, "_")
	if !ok || goos == "" || arch == "" || strings.ContainsAny(s, `/\. `) || strings.Contains(arch, "_") {
		return Platform{}, false
	}
	return Platform{goos, arch}, true
}
