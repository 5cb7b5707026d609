package main

import (
	"bytes"
	"strings"
)

// exitCrash is the exit status after a panic, the one that scripts know from other engines.
const exitCrash = 11

// places reduces a stack trace, as debug.Stack returns it, to functions and source lines. The arguments in a
// trace are words of memory, which may be parts of a secret.
func places(stack []byte) string {
	var out strings.Builder
	for line := range bytes.Lines(stack) {
		s := strings.TrimRight(string(line), "\n")
		switch {
		case strings.HasPrefix(s, "\t"):
			if i := strings.LastIndex(s, " +0x"); i >= 0 {
				s = s[:i]
			}
			out.WriteString("    " + strings.TrimSpace(s) + "\n")
		case strings.Contains(s, "(") && !strings.HasPrefix(s, "goroutine"):
			out.WriteString("  " + s[:strings.LastIndex(s, "(")] + "\n")
		}
	}
	return out.String()
}
