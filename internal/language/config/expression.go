package config

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

// InExpression adapts the parser's errors to a single expression, which is not a file. An error about
// something missing at the end is placed at the last character, so that the snippet shows it. It changes
// the diagnostics in place. src is the text of the expression, which begins at offset 0 of filename.
func InExpression(diags diag.List, src []byte, filename string) diag.List {
	text := bytes.TrimRight(src, " \t\r\n")
	for i := range diags {
		d := &diags[i]
		d.Detail = fileWords.Replace(d.Detail)
		if d.Subject != nil && d.Subject.Start.Byte >= len(text) && len(text) > 0 {
			last := lastCharacter(text, filename)
			d.Subject = &last
		}
	}
	return diags
}

var fileWords = strings.NewReplacer("the end of the file", "the end of the expression", "elsewhere in this file", "elsewhere in it")

// lastCharacter returns the range of the last character of a text, or the zero range if the text is empty.
// Only a scan from the beginning finds its line and column, since columns count grapheme clusters.
func lastCharacter(text []byte, filename string) hcl.Range {
	var last hcl.Range
	for sc := hcl.NewRangeScanner(text, filename, bufio.ScanRunes); sc.Scan(); {
		last = sc.Range()
	}
	return last
}
