package provision

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// alternatives lists, by type, the arguments of which a provisioner takes exactly one.
var alternatives = map[string][]string{
	"remote-exec": {"inline", "script", "scripts"},
	"file":        {"source", "content"},
}

// CheckArguments reports errors in the arguments of a provisioner of the given type beyond their types.
// Unknown arguments are not checked. The paths of the diagnostics are within the arguments. The arguments
// have the types of the provisioner's schema.
func CheckArguments(typ string, args cty.Value) diag.List {
	args, _ = args.UnmarkDeep()
	if !args.IsKnown() {
		return nil
	}
	var given, possible []string
	for _, name := range alternatives[typ] {
		switch v := args.GetAttr(name); {
		case !v.IsKnown():
			possible = append(possible, name)
		case !v.IsNull():
			given = append(given, name)
		}
	}
	if args.Type().HasAttribute("output") {
		if v := args.GetAttr("output"); v.IsKnown() && !v.IsNull() && v.AsString() != outputMasked {
			return problem("output", "Invalid provisioner argument", "The argument output is \"masked\", or left out.")
		}
	}
	names := "\"" + strings.Join(alternatives[typ], "\", \"") + "\""
	switch {
	case len(alternatives[typ]) > 0 && len(given)+len(possible) == 0:
		return problem("", "Missing provisioner argument", "A %q provisioner needs one of the arguments %s.", typ, names)
	case len(given) > 1:
		return problem(given[1], "Conflicting provisioner arguments", "A %q provisioner takes only one of the arguments %s.", typ, names)
	case slices.Contains(given, "inline") || slices.Contains(given, "scripts"):
		return checkList(args.GetAttr(given[0]), given[0])
	case typ == "file" && args.GetAttr("destination").IsKnown() && text(args, "destination") == "":
		return problem("destination", "Invalid provisioner argument", "The destination is empty: give the name of a file or directory on the host.")
	}
	return nil
}

// checkList reports an empty list, or an element that is null.
func checkList(v cty.Value, name string) diag.List {
	if v.LengthInt() == 0 {
		return problem(name, "Invalid provisioner argument", "The list is empty, so there is nothing to run.")
	}
	for i, e := range v.AsValueSlice() {
		if e.IsNull() {
			d := problem(name, "Invalid provisioner argument", "An element of the list is null.")
			d[0].Path = d[0].Path.IndexInt(i)
			return d
		}
	}
	return nil
}

// problem returns an error about an argument, or about the block if name is empty.
func problem(name, summary, format string, args ...any) diag.List {
	d := diag.Errorf(summary, format, args...)
	if name != "" {
		d[0].Path = cty.GetAttrPath(name)
	}
	return d
}
