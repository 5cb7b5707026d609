package bounds

import (
	"bytes"
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// JSON is Native for HCL's JSON syntax, whose strings may contain templates and expressions.
func JSON(src []byte, filename string) *Excess {
	at, err := scanJSON(src, MaxLevels, MaxDigits, stringExcess)
	if err == nil {
		return nil
	}
	pos := hcl.InitialPos
	pos.Byte, pos.Line = at, pos.Line+bytes.Count(src[:at], []byte("\n"))
	return &Excess{hcl.Range{Filename: filename, Start: pos, End: pos}, err}
}

// CheckJSON returns ErrTooDeep if a JSON document nests deeper than levels, ErrNumber if it exceeds that
// bound, or nil. Strings are not looked into.
func CheckJSON(src []byte, levels int) error {
	_, err := scanJSON(src, levels, MaxDigits, nil)
	return err
}

// CheckStored is CheckJSON for a document that a program wrote, whose numbers must be Readable. It returns
// ErrWritten if one isn't, and the line where the excess is.
func CheckStored(src []byte, levels int) (line int, err error) {
	at, err := scanJSON(src, levels, MaxWritten, nil)
	if errors.Is(err, ErrNumber) {
		err = ErrWritten
	}
	return 1 + bytes.Count(src[:at], []byte("\n")), err
}

// scanJSON returns where a JSON document first exceeds a bound, and which. digits is that on numbers. text
// returns the one that the content of a string exceeds; it may be nil.
func scanJSON(src []byte, levels, digits int, text func([]byte) error) (int, error) {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '[', c == '{':
			if depth++; depth > levels {
				return i, ErrTooDeep
			}
		case c == ']', c == '}':
			depth--
		case class[c] == '0':
			start := i
			for i+1 < len(src) && isNumberByte(src[i+1]) {
				i++
			}
			if i-start >= exponentDigits && !fits(string(src[start:i+1]), digits) {
				return start, ErrNumber
			}
		case c == '"':
			start := i + 1
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
			if text != nil {
				if err := text(src[start:min(i, len(src))]); err != nil {
					return start, err
				}
			}
		}
	}
	return 0, nil
}

func isNumberByte(c byte) bool {
	return class[c] == '0' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// stringExcess returns the bound that the text of a JSON string would exceed as a template, or as the
// expression of a type constraint; or nil.
func stringExcess(text []byte) error {
	if harmless(text) {
		return nil
	}
	if tokens, _ := hclsyntax.LexTemplate(text, "", hcl.InitialPos); len(tokens) > 0 {
		if e := firstExcess(tokens); e != nil {
			return e.Err
		}
	}
	depth := 0
	for _, c := range text {
		switch class[c] {
		case '(':
			if depth++; depth > MaxLevels {
				return ErrTooDeep
			}
		case ')':
			depth = max(0, depth-1)
		}
	}
	return nil
}
