package leak

import (
	"sort"
	"strings"
)

// minRun is the number of characters of a code before the end of a line from which the code is taken to go on
// in the next line.
const minRun = 32

// run is a piece of text in Base64 or hexadecimal that goes over several lines, without the characters
// between them.
type run struct {
	text  string
	lines []int // where the lines begin in text
	at    []int // where they begin in the text that the run is a piece of
}

// place returns the line that a byte of a run is in, and where that byte is in the text that the run is from.
func (r run) place(i int) (line, at int) {
	line = sort.SearchInts(r.lines, i+1) - 1
	return line, r.at[line] + i - r.lines[line]
}

// acrossLines returns the values that are remembered and stand in s in a code whose lines they go across, in
// the order of their beginnings. lines is as in matches. The caller has the lock. Nearly all texts have no
// such code.
func (g *Guard) acrossLines(s string, lines bool) (out []Match) {
	if len(s) < minRun {
		return nil
	}
	eachRun(s, func(r run) {
		for start := 0; ; start++ {
			var found []form
			if start, found = g.nextLocked(r.text, start); len(found) == 0 {
				return
			}
			for _, f := range found {
				first, from := r.place(start)
				if last, to := r.place(start + f.length - 1); first != last && (lines || !f.line) {
					out = append(out, g.match(f, from, to+1))
				}
			}
		}
	})
	return out
}

// eachRun calls f for each code in s that goes over several lines, in order. Lines end as in a text or, with
// any number of backslashes, as in a string of JSON; they may be indented and have a sign in front, as in a
// log or a message.
func eachRun(s string, f func(run)) {
	next := lineEnds{-1, -1}
	for from := 0; ; {
		end := next.after(s, from)
		if end < 0 {
			return
		}
		start := end
		for start > from && isCode(s[start-1]) {
			start--
		}
		if from = end + 1; end-start < minRun {
			continue
		}
		var sb strings.Builder
		r := run{lines: []int{0}, at: []int{start}}
		sb.WriteString(s[start:end])
		for end-start >= minRun {
			if start = lineAfter(s, end); start < 0 {
				break
			}
			end = codeEnd(s, start)
			r.lines, r.at = append(r.lines, sb.Len()), append(r.at, start)
			sb.WriteString(s[start:end])
			from = end
		}
		if len(r.lines) > 1 {
			r.text = sb.String()
			f(r)
		}
	}
}

// lineEnds finds where lines may end in a text. It keeps where both kinds of ends are next, so that a text
// with many of one kind is not searched for the other again and again.
type lineEnds struct{ feed, backslash int }

// after returns where a line may end at i or later: before its last characters, however they are written. It
// returns -1 if no line does. Calls must have rising i.
func (n *lineEnds) after(s string, i int) int {
	find := func(known *int, c byte) int {
		if *known < i {
			if at := strings.IndexByte(s[i:], c); at >= 0 {
				*known = i + at
			} else {
				*known = len(s)
			}
		}
		return *known
	}
	at := min(find(&n.feed, '\n'), find(&n.backslash, '\\'))
	if at == len(s) {
		return -1
	}
	if s[at] == '\n' && at > i && s[at-1] == '\r' {
		at--
	}
	return at
}

// lineAfter returns where the code goes on after a line that ends at i; -1 if no line ends there, or the next
// has none.
func lineAfter(s string, i int) int {
	at := skipEnd(s, i, 'r', '\r')
	if at < 0 {
		at = i
	}
	if at = skipEnd(s, at, 'n', '\n'); at < 0 {
		return -1
	}
	for at < len(s) && (strings.IndexByte(" \t|>#~", s[at]) >= 0 || strings.HasPrefix(s[at:], "+ ") || strings.HasPrefix(s[at:], "- ")) {
		at++
	}
	if rest, found := strings.CutPrefix(s[at:], "│"); found { // the frame of messages
		at = len(s) - len(strings.TrimLeft(rest, " "))
	}
	if at < len(s) && isCode(s[at]) {
		return at
	}
	return -1
}

// skipEnd returns the position after a control character at i, itself or with its letter after backslashes;
// -1 if there is none.
func skipEnd(s string, i int, letter, itself byte) int {
	if i < len(s) && s[i] == itself {
		return i + 1
	}
	at := i
	for at < len(s) && s[at] == '\\' {
		at++
	}
	if at > i && at < len(s) && s[at] == letter {
		return at + 1
	}
	return -1
}

func codeEnd(s string, i int) int {
	for i < len(s) && isCode(s[i]) {
		i++
	}
	return i
}

// isCode reports whether c is a character of Base64, its padding included, or of hexadecimal.
func isCode(c byte) bool { return inCode[c] }

var inCode = func() (in [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=") {
		in[c] = true
	}
	return in
}()
