package plan

// Extent says how far a plan of changes has gone: one that is to look at nothing but objects that have
// changed since the last apply.
type Extent struct {
	// Full is why the plan looks at everything all the same; "" if it doesn't.
	Full string
	// Objects is the number of instances that the state had, up to state.MostCounted. Evaluated is the number
	// of these that were planned, and New is the number of others. A plan that looks at everything has none
	// of these numbers.
	Objects, Evaluated, New int
	// Rows is the number of rows that the store has sent for the plan: of objects, of records about them, of
	// outputs and results of checks, and of marks of units that are due.
	Rows int
	// Collections are the resources that are read as a whole, with all of their instances: as an expression
	// does that refers to the resource without a key, or to a module with several instances. By their
	// addresses, they have their numbers of objects in the state, which were read; those without objects are
	// left out. Collected is the number of all these objects, each counted once.
	Collections map[string]int
	Collected   int
	// Unversioned are the addresses of providers under development, in order: as nothing says whether they
	// have changed, each plan evaluates all of their objects.
	Unversioned []string
}

// Partial reports whether a plan with this extent leaves out everything that has not changed. The extent of
// other plans is nil.
func (e *Extent) Partial() bool { return e != nil && e.Full == "" }
