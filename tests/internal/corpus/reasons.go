package corpus

// reasons has the classes of differences on purpose. docs/compatibility.md lists them under the same names.
var reasons = map[string]string{
	"one-error":     "one mistake gives one error: descriptions of its consequences are left out",
	"repeats":       "OpenTofu prints the same diagnostic several times",
	"place":         "the error is at the part that is wrong, or has a place at all",
	"hint":          "a warning of what will fail later, or has no effect",
	"all-errors":    "the errors of a later stage are reported too",
	"early":         "validate finds what every plan or apply would refuse",
	"later":         "a plan finds what OpenTofu's validate finds already",
	"accepted":      "works here, or does no harm",
	"contradiction": "the configuration says two things at once, of which OpenTofu silently drops one",
	"unused":        "OpenTofu does not look at blocks that nothing uses",
	"unsupported":   "not supported",
	"no-init":       "commands that need nothing installed work without init",
	"graph":         "graph draws cycles, and refuses undeclared references",
}
