// Package selection says which objects a command acts on, as -target and -exclude ask. It begins in
// selection.go with Selection, which answers for single instances; objects.go answers for objects that are to
// be destroyed and depend on each other. moves.go and unmatched.go find options that cannot be meant as they
// are.
//
// It may import addresses, the configuration for its declarations, and the dependencies of a plan. It must
// not evaluate anything: it is given the instances and their dependencies.
package selection
