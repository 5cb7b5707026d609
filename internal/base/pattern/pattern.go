// Package pattern has regular expressions that are compiled when they are first used. Compiling them all
// takes a twentieth of the time in which the program starts, and most commands use few of them.
//
// It imports the standard library only. It must not know the matched texts.
package pattern

import (
	"regexp"
	"sync"
)

// New returns a function that returns the regular expression, which the first call compiles. The function may
// be called concurrently, and panics if the text is not a regular expression.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
