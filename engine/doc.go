// Package engine plans, applies, imports and validates: it is the only code that talks to providers and plan
// and state.
//
// It may import everything below it, and nothing of the operating system. It must not know the command line,
// terminals, files or where state is stored.
package engine
