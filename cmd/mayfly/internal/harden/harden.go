// Package harden keeps the memory and the environment of this process from others: they contain secrets while
// the program runs.
//
// Core dumps are turned off, for child processes as well, and other processes of the same user can neither
// trace this one nor read its memory, as far as the system offers this. A child gets its own protection from
// tracing only if it asks for it, since executing a program resets it.
//
// Of this module, it may import childenv.
package harden

// AllowTrace is the environment variable that, if it is not empty, leaves the process open to debuggers,
// tracers and core dumps.
const AllowTrace = "MAYFLY_ALLOW_TRACE"

// Process protects this process, unless the environment variable AllowTrace asks for the contrary. Protection
// that the system refuses is left out: a run must not fail for lack of an additional safeguard.
func Process(getenv func(string) string) {
	if getenv(AllowTrace) == "" {
		protect()
	}
}
