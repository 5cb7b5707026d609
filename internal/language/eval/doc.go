// Package eval evaluates a configuration: it makes objects of modules, resources and values, whose results
// are computed on demand, once, for the first that asks.
//
// A *block* is a declaration (package blocks); an *object* is a block within a module instance; an *instance*
// is one repetition of a resource object. A Run is one walk over the configuration: validation, planning or
// applying. A Run is given a function for the results of resource instances, and so knows neither state nor
// plan nor provider processes.
//
// Values that come from ephemeral resources are never kept in a Run: they live in an Opened, which its owner
// drops after the operation that needed them. Evaluation opens nothing: it notes the instances it lacks, and
// settle asks the owner to open them.
//
// # Reading order
//
// Start with run.go, objects.go and opened.go, which declare the main types. expansion.go finds instances,
// and lookup.go finds objects by address. resolve.go follows references; reads.go collects the references of
// each object. Read-sets have four walks: prepare.go demands the objects in them, deps.go orders by them,
// uses.go claims the instances that may be opened, and guards.go checks conditions on the way. context.go
// evaluates expressions, for value.go, resource.go and providers.go. The other files add one feature each, on
// top of these.
//
// # Dependencies
//
// The package may import eval/blocks and the imports allowed there, future, plan (for dependencies) and, of
// state, the statuses of conditions. It must not know the content of a state or how providers run.
package eval
