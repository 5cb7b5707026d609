// Package effort says whether slow hashes are to be slow. They always are in programs that people run. Tests
// of these programs, whose secrets are worth nothing, would spend a large part of their time on them.
//
// It imports nothing. It must not know the data that are hashed.
package effort

// saved is not empty if hashes need not be slow. Tests that build a program may have the linker set it.
var saved string

// Save has all slow hashes of this process take next to no time from now on. Only a TestMain may call it,
// before anything else. The results are others than usual, and protect nothing.
func Save() { saved = "yes" }

// Of returns the amount of work for a hash, which is usual unless effort is saved, and least then. It may be
// called concurrently.
func Of[N int | uint32](usual, least N) N {
	if saved != "" {
		return least
	}
	return usual
}
