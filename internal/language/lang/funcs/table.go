package funcs

import (
	"maps"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// CorePrefix is the namespace under which every function can be called as well.
const CorePrefix = "core::"

// Options are the environment of the functions of a table.
type Options struct {
	// BaseDir is the directory that relative paths are resolved against; empty means the process's working
	// directory.
	BaseDir string
	// PureOnly makes timestamp, uuid and bcrypt return unknown, because their results differ between plan and
	// apply.
	PureOnly bool
	// PlanTimestamp is the result of plantimestamp, which is unknown if this is zero.
	PlanTimestamp time.Time
	// Timestamp is the result of timestamp, whatever PureOnly is, unless it is zero.
	Timestamp time.Time
	// Fingerprint computes the result of fingerprint for a value without marks; false if it cannot be known
	// yet. The result is unknown if this is nil.
	Fingerprint func(cty.Value) (uint64, bool, error)
	// Interrupted, when closed, ends searches for files and reading from them; nil for never.
	Interrupted <-chan struct{}
	// Console adds the functions that exist only at the interactive prompt: type.
	Console bool
	// PublicType says of which types everything may be shown, whatever the values are. It may be nil.
	PublicType func(cty.Type) bool
}

// Table returns the functions callable in expressions, each also under "core::NAME". The map is the caller's
// own; the functions in it are immutable and may be called from many goroutines at once.
func Table(o Options) map[string]function.Function {
	table := make(map[string]function.Function, 2*(len(static)+40))
	add := func(name string, f function.Function) {
		table[name] = f
		table[CorePrefix+name] = f
	}
	for name, f := range static {
		add(name, f)
	}
	for name, f := range contextual(o) {
		add(name, guard(name, f))
	}
	if o.Console {
		add("type", guard("type", typeFunc(o.PublicType)))
	}
	// Templates call the same functions, except for the template functions themselves: those count how deep
	// they are nested.
	r := &renderer{files: files{o.BaseDir, o.Interrupted}, functions: maps.Clone(table)}
	maps.Copy(table, r.nested())
	return table
}

// static has the functions that depend on nothing but their arguments, guarded once for all tables.
var static = buildStatic()

// buildStatic collects the functions that need nothing from a run, each with the guard that bounds its cost
// and keeps secrets out of its errors.
func buildStatic() map[string]function.Function {
	all := make(map[string]function.Function, 110)
	for _, topic := range []map[string]function.Function{
		stringFuncs, numberFuncs, collectionFuncs, conversionFuncs, assumeFuncs, markFuncs, encodingFuncs, cryptoFuncs, networkFuncs, datetimeFuncs,
	} {
		for name, f := range topic {
			all[name] = guard(name, f)
		}
	}
	// These two receive expressions, not values, and so do their own redaction.
	all["can"] = canFunc
	all["try"] = tryFunc
	return all
}

// contextual returns the functions that depend on the options, not guarded yet.
func contextual(o Options) map[string]function.Function {
	fs := files{o.BaseDir, o.Interrupted}.functions()
	fs["plantimestamp"] = fixedTimestampFunc(o.PlanTimestamp)
	fs["fingerprint"] = fingerprintFunc(o.Fingerprint)
	for name, f := range impureFuncs {
		switch {
		case name == "timestamp" && !o.Timestamp.IsZero():
			f = fixedTimestampFunc(o.Timestamp)
		case o.PureOnly:
			f = function.Unpredictable(f)
		}
		fs[name] = f
	}
	return fs
}
