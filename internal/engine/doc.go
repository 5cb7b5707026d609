// Package engine plans, applies, imports and validates: it is the only code that talks to providers and plan
// and state.
//
// Begin with engine.go and walk.go, which all operations share, and object.go, an operation on one object.
// planner.go has the findings of a plan, plan_*.go plan one kind of object each, and plan.go has the order of
// it all; applier.go, apply_*.go and apply.go do the same for applying. validate.go, import_object.go,
// generate.go and console.go are the other operations.
//
// Decisions that need no run are made below: object asks a provider about one object, contract has the rules
// of a provider's answers, moves and selection say which objects a command acts on, ephemeral holds open
// instances, and event tells observers.
//
// It may import everything below it, and nothing of the operating system. It must not know the command line,
// terminals, files or where state is stored.
package engine
