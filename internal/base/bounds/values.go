package bounds

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

const (
	// MaxDigits bounds the digits that a number may need on either side of the decimal point. The largest
	// number of common floating-point formats has 309.
	MaxDigits = 10_000
	// MaxText bounds a string that a function or template returns, in bytes.
	MaxText = 64 << 20
	// MaxProduct bounds the elements of a product of sets.
	MaxProduct = 1 << 20

	maxPlainDigits = MaxDigits / 2 // digits in a row that need no closer look
	exponentDigits = 4             // digits of an exponent that needs one
)

var (
	// ErrNumber says that a number exceeds MaxDigits.
	ErrNumber = fmt.Errorf("the number is out of range: numbers may have up to %d digits on either side of the decimal point", MaxDigits)
	// ErrText says that a string exceeds MaxText.
	ErrText = fmt.Errorf("the result is too long: strings made by templates and functions may have up to %d MiB", MaxText>>20)
)

// isExponent reports whether digits after this text belong to an exponent.
func isExponent(before []byte) bool {
	n := len(before)
	if n > 0 && (before[n-1] == '+' || before[n-1] == '-') {
		n--
	}
	return n > 1 && (before[n-1] == 'e' || before[n-1] == 'E') && (class[before[n-2]] == '0' || before[n-2] == '.')
}

// Printable reports whether a number, given as the text of a literal, is within MaxDigits. Text that is not a
// number is not judged.
func Printable(literal string) bool { return fits(literal, MaxDigits) }

// fits is Printable for numbers that may have so many digits if they have no exponent.
func fits(literal string, digits int) bool {
	mantissa, exponent, has := strings.Cut(strings.ToLower(strings.TrimLeft(literal, "+-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" {
		return true
	}
	if has {
		digits = MaxDigits
	}
	if len(whole) > digits || len(fraction) > digits {
		return false
	}
	if !has {
		return true
	}
	e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	if err != nil { // an exponent of digits only is out of range
		exponent = strings.TrimLeft(exponent, "+-")
		return exponent == "" || strings.Trim(exponent, "0123456789") != ""
	}
	return len(whole)+e <= MaxDigits && len(fraction)-e <= MaxDigits
}

// log10of2 is the logarithm of 2 to base 10, in thousandths.
const log10of2 = 301

// CheckValue returns ErrNumber or ErrText if v itself, not its elements, is a number or string that exceeds a
// bound.
func CheckValue(v cty.Value) error {
	if !v.Type().IsPrimitiveType() {
		return nil
	}
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch v.Type() {
	case cty.Number:
		if e := v.AsBigFloat().MantExp(nil); e*log10of2/1000 > MaxDigits || -e*log10of2/1000 > MaxDigits {
			return ErrNumber
		}
	case cty.String:
		if len(v.AsString()) > MaxText {
			return ErrText
		}
	}
	return nil
}

// CheckParsed returns ErrNumber if a number anywhere in v, all of which were made of text, exceeds a bound. A
// number that is too large for the floating-point format has become infinite. Its cost is linear in the size
// of v.
func CheckParsed(v cty.Value) error {
	return cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if bare, _ := v.Unmark(); Infinite(bare) {
			return false, ErrNumber
		}
		return v.Type() != cty.Number, CheckValue(v)
	})
}

// Infinite reports whether v is an infinite number without marks.
func Infinite(v cty.Value) bool {
	return v.Type() == cty.Number && !v.IsMarked() && v.IsKnown() && !v.IsNull() && v.AsBigFloat().IsInf()
}

// CheckNumbers returns ErrNumber if a number anywhere in v exceeds a bound. Its cost is linear in the size of
// v.
func CheckNumbers(v cty.Value) error {
	return cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.Number {
			return false, CheckValue(v)
		}
		return true, nil
	})
}

// JSONNumbers returns ErrWritten if a number in a JSON text is not Readable. With quoted, a string that is no
// name counts as a number if it has the form of one. Its cost is linear.
func JSONNumbers(b []byte, quoted bool) error {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			end := ClosingQuote(b[i+1:])
			text := b[i+1 : i+1+end]
			i += end + 1
			if quoted && len(text) > 0 && bytes.IndexByte(numeral, text[0]) >= 0 && !Readable(string(text)) && !isName(b[min(i+1, len(b)):]) {
				return ErrWritten
			}
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(b) && bytes.IndexByte(numeral, b[end]) >= 0 {
				end++
			}
			if end-i > exponentDigits && !Readable(string(b[i:end])) {
				return ErrWritten
			}
			i = end - 1
		}
	}
	return nil
}

// isName reports whether the JSON string before rest is the name of a member.
func isName(rest []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
}

// numeral are the bytes of numbers in JSON.
var numeral = []byte("0123456789+-.eE")

// ClosingQuote returns where a JSON string ends that begins before b, or the length of b.
func ClosingQuote(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}
