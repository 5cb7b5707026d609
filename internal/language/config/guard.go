package config

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// checkEncoding requires UTF-8. It removes a byte order mark with a warning, since other engines accept
// one. The HCL scanner would take text in another encoding for unexpected characters, one error for each.
// The error points at the first invalid byte.
func checkEncoding(src []byte, name string) ([]byte, diag.List) {
	for _, bom := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(src, []byte(bom)) {
			return nil, diag.At(startOf(name), "Invalid character encoding",
				"The file %q is in UTF-16. Configuration files must be UTF-8: save it again with that encoding.", name)
		}
	}
	var diags diag.List
	if rest, ok := bytes.CutPrefix(src, []byte("\xef\xbb\xbf")); ok {
		src = rest
		diags = diag.At(startOf(name), "Unicode byte order mark",
			"The file %q starts with a byte order mark, which is ignored. Save the file as UTF-8 without it.", name).AsWarnings()
	}
	if utf8.Valid(src) {
		return src, diags
	}
	pos := hcl.InitialPos
	for pos.Byte < len(src) {
		r, size := utf8.DecodeRune(src[pos.Byte:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		pos.Byte += size
		pos.Column++
		if r == '\n' {
			pos.Line++
			pos.Column = 1
		}
	}
	end := pos
	end.Byte++
	end.Column++
	return nil, append(diags, diag.At(hcl.Range{Filename: name, Start: pos, End: end}, "Invalid character encoding",
		"The file %q is not encoded in UTF-8: the byte 0x%02x is invalid here. Save the file as UTF-8.", name, src[pos.Byte])...)
}

// checkBounds refuses source that would exhaust the stack of a parser or of a walk over its syntax tree, or
// whose numbers would take too long to print. HCL's parsers and cty's walks are recursive, and Go ends the
// whole process when a stack exceeds its limit: no recover could turn that into a diagnostic. So the source
// is scanned first, with a stack of constant size.
func checkBounds(src []byte, name string, isJSON bool) diag.List {
	check := bounds.Native
	if isJSON {
		check = bounds.JSON
	}
	excess := check(src, name)
	switch {
	case excess == nil:
		return nil
	case errors.Is(excess.Err, bounds.ErrNumber):
		return diag.At(excess.Range, "Invalid number", "This number is out of range: numbers may have up to %d digits on either side of the decimal point.", bounds.MaxDigits)
	default:
		return diag.At(excess.Range, "Nesting too deep",
			"Blocks and expressions may be nested %d levels deep, and one expression may have up to %d operators. Split this expression into local values.",
			bounds.MaxLevels, bounds.MaxOperators)
	}
}

// Parseable reports whether the nesting of source is within the parsers' bounds. name determines the
// syntax. It returns false for source that Load refused because of its nesting. Callers that parse the
// source again, for snippets or to format it, ask this first.
func Parseable(src []byte, name string) bool {
	return !checkBounds(src, name, strings.HasSuffix(name, ".json")).HasErrors()
}

// CheckExpression refuses the source of a single expression that nests deeper than the parser can handle.
func CheckExpression(src []byte, name string) diag.List { return checkBounds(src, name, false) }

// startOf returns the first position in a file, for errors about the file as a whole.
func startOf(filename string) hcl.Range {
	return hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
}
