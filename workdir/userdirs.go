package workdir

import (
	"path/filepath"
	"runtime"
)

// journalDir is the directory for journals of states whose store has no room for them. It belongs to the
// user, because the data directory may be removed at any time.
func (d *Dir) journalDir() string {
	return filepath.Join(d.userDir("XDG_STATE_HOME", ".local/state"), "journals")
}

// userDir returns the program's directory below one of the user's: the one that a variable names, or else the
// system's usual one, unix below the home directory. Without a home directory it is in the data directory.
func (d *Dir) userDir(variable, unix string) string {
	home := d.environment().Home
	switch {
	case d.vars[variable] != "":
		return filepath.Join(d.vars[variable], "mayfly")
	case runtime.GOOS == "windows" && d.vars["LocalAppData"] != "":
		return filepath.Join(d.vars["LocalAppData"], "mayfly")
	case home == "":
		return filepath.Join(d.dataDir, "mayfly")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "mayfly")
	}
	return filepath.Join(home, filepath.FromSlash(unix), "mayfly")
}
