package builtin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapeMarks returns source text in which combining marks after an escape sequence are escaped too.
// Unescaped, they would join the sequence's last letter when the text is normalized, as every string of the
// language is, and break the sequence.
//
//	"\n" before U+0301  → \n\u0301
func escapeMarks(source []byte) string {
	var sb strings.Builder
	for len(source) > 0 {
		if source[0] != '\\' {
			sb.WriteByte(source[0])
			source = source[1:]
			continue
		}
		n := escapeLength(source)
		sb.Write(source[:n])
		source = source[n:]
		for len(source) > 0 {
			r, size := utf8.DecodeRune(source)
			if !unicode.Is(unicode.M, r) {
				break
			}
			if r > 0xffff {
				fmt.Fprintf(&sb, `\U%08x`, r)
			} else {
				fmt.Fprintf(&sb, `\u%04x`, r)
			}
			source = source[size:]
		}
	}
	return sb.String()
}

// escapeLength returns the length of the escape sequence at the start of source.
func escapeLength(source []byte) int {
	n := 2
	if len(source) > 1 {
		switch source[1] {
		case 'u':
			n = 6
		case 'U':
			n = 10
		}
	}
	return min(n, len(source))
}
