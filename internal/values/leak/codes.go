package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// alphabets are the alphabets of Base64: the standard one, and the one for URLs and names of files.
var alphabets = []*base64.Encoding{base64.StdEncoding, base64.URLEncoding}

// lineLengths are the lengths of lines in Base64: PEM, and MIME with most programs.
var lineLengths = []int{64, 76}

// codes calls f for the hexadecimal and Base64 spellings of bytes that are varied enough to be recognized.
// The text is overwritten after the call.
//
// Base64 writes three bytes in four characters, so it is different for each remainder of the number of bytes
// before, such as the bytes of the user in "user:password". Of each, codes has the characters that depend on
// the bytes alone, which are ten for eight bytes, and the bits in the characters next to them; of the first
// also all with the padding.
func codes(b []byte, f func(text []byte, next edges)) {
	give := func(text []byte, next edges) {
		if isSecret(asText(text)) {
			f(text, next)
		}
	}
	space := make([]byte, hex.EncodedLen(len(b)))
	hex.Encode(space, b)
	give(space, edges{})
	upper := bytes.ToUpper(space)
	give(upper, edges{})
	clear(space)
	clear(upper)
	for before := range 3 {
		in := append(make([]byte, before, before+len(b)), b...)
		for _, alphabet := range alphabets {
			text := alphabet.AppendEncode(nil, in)
			from, to := []int{0, 2, 3}[before], len(in)*8/6
			if alphabet == base64.StdEncoding || bytes.ContainsAny(text, "-_") {
				give(text[from:to], edgesOf(text, before, from, to))
				if before == 0 && len(text) > to {
					give(text, edges{})
				}
			}
			clear(text)
		}
		clear(in)
	}
}

// edges are the bits of a value in Base64 that stand in the characters next to those that depend on the value
// alone. They are few enough to be kept as they are.
type edges struct{ beforeMask, before, afterMask, after byte }

// edgesOf returns the edges of a value in a code that begins with so many other bytes. Its own characters are
// code[from:to].
func edgesOf(code []byte, others, from, to int) (e edges) {
	if others > 0 {
		e.beforeMask = 1<<(6-others*8%6) - 1
		e.before = sixBits[code[from-1]] & e.beforeMask
	}
	if to < len(code) {
		e.afterMask = 0b111100
		if len(bytes.TrimRight(code, "="))*6/8%3 == 1 { // bytes in the last group
			e.afterMask = 0b110000
		}
		e.after = sixBits[code[to]] & e.afterMask
	}
	return e
}

// fit reports whether a value in Base64 that stands in s from start to end may have the edges: unless a
// character next to it has other bits. A character that may be part of an escape says nothing.
func (e edges) fit(s string, start, end int) bool {
	if start > 0 && !strings.ContainsAny(s[max(0, start-6):start-1], `\%=&`) {
		if c := sixBits[s[start-1]]; c < 64 && c&e.beforeMask != e.before {
			return false
		}
	}
	if end < len(s) {
		if c := sixBits[s[end]]; c < 64 && c&e.afterMask != e.after {
			return false
		}
	}
	return true
}

// sixBits has the bits of a character in Base64, of either alphabet; 64 for none.
var sixBits = func() (out [256]byte) {
	for i := range out {
		out[i] = 64
	}
	for _, letters := range []string{"+/", "-_"} {
		for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + letters) {
			out[c] = byte(i)
		}
	}
	return out
}()

// inLines calls f for each line of Base64 as programs write it that end lines. In output that comes line by
// line, there is nothing else to recognize of several; a single one is the whole code.
func inLines(s string, f func(line string)) {
	for _, alphabet := range alphabets {
		text := alphabet.EncodeToString([]byte(s))[:len(s)*8/6]
		for _, n := range lineLengths {
			for from := 0; from < len(text); from += n {
				f(text[from:min(from+n, len(text))])
			}
		}
	}
}
