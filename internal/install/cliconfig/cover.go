package cliconfig

import (
	"bytes"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// secrets matches the names of blocks and arguments that may contain secrets, and passwords in addresses.
var secrets = pattern.New(`(?i)credential|token|password|secret|//[^/\s]*@`)

// setting matches the line of an argument or a block header, in either syntax, up to where its value begins.
// It knows little on purpose: names are in lower case, and a label is a host name before a brace.
var setting = pattern.New(`^\s*(?:\{\s*)?(?:"[a-z_]+"|[a-z_]+)[ \t]*(?:[=:][ \t]*["{\[]|(?:"[\w-]+\.[\w.:*-]+"[ \t]*)?\{)`)

// brackets matches a line that has neither names nor values.
var brackets = pattern.New(`^[\s{}\[\],]*$`)

// cover returns the text of a file for showing. If the file may contain secrets, only the names of settings
// are left, and nothing if it has text in several lines. Positions in the result are the same as in the file.
//
//	token = "abc"      →  token = ***
//	host "h.org" {     →  host "h.org" {
func cover(src []byte) []byte {
	if !secrets().Match(src) {
		return src
	}
	out := bytes.Clone(src)
	literal := bytes.Contains(src, []byte("<<")) // lines of a heredoc may look like settings
	for line := range bytes.Lines(out) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case literal:
			blank(line)
		case !brackets().Match(line):
			blank(line[nameEnd(line):])
		}
	}
	return out
}

// nameEnd returns the length of the part of a line that may be shown: all that is before the value.
func nameEnd(line []byte) int {
	end := len(setting().Find(line))
	if end > 0 && line[end-1] == '"' {
		end-- // the value begins here
	}
	return end
}

// blank overwrites a text by asterisks and spaces, so that its end does not show its length.
func blank(text []byte) {
	for i := range text {
		text[i] = ' '
		if i < len("***") {
			text[i] = '*'
		}
	}
}
