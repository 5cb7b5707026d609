package term

// Colored reports whether the environment wants text to be coloured on a stream that is a terminal, or is
// not. Terminals are by default, except terminals of the type "dumb", which would show the escape sequences.
// CLICOLOR_FORCE and FORCE_COLOR ask for it there too, and elsewhere, as in the logs of pipelines. NO_COLOR
// forbids it everywhere.
func Colored(vars map[string]string, terminal bool) bool {
	if vars["NO_COLOR"] != "" {
		return false
	}
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		if v := vars[name]; v != "" && v != "0" && v != "false" {
			return true
		}
	}
	return terminal && vars["TERM"] != "dumb"
}
