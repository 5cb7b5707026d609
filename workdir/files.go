package workdir

import (
	"path/filepath"
	"runtime"
)

// files are the environment variables, and the files that are found by them: files beside the configuration,
// and the user's own.
type files struct {
	vars    map[string]string
	dataDir string // of installed packages and records
}

// journalDir is the directory for journals of states whose store has no room for them. It belongs to the
// user, because the data directory may be removed at any time.
func (f *files) journalDir() string {
	return filepath.Join(f.userDir("XDG_STATE_HOME", ".local/state"), "journals")
}

// userDir returns the program's directory below one of the user's: the one that a variable names, or else the
// system's usual one, unix below the home directory. Without a home directory it is in the data directory.
func (f *files) userDir(variable, unix string) string {
	home := f.environment().Home
	switch {
	case f.vars[variable] != "":
		return filepath.Join(f.vars[variable], "mayfly")
	case runtime.GOOS == "windows" && f.vars["LocalAppData"] != "":
		return filepath.Join(f.vars["LocalAppData"], "mayfly")
	case home == "":
		return filepath.Join(f.dataDir, "mayfly")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "mayfly")
	}
	return filepath.Join(home, filepath.FromSlash(unix), "mayfly")
}
