package bounds

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// MaxWritten bounds the digits, on either side of the decimal point, of a number that is written out in full
// in a document such as a state. It is above MaxDigits, so that results of expressions can be written and
// read again, with all that their precision adds to it. It is not far above, since printing takes the square
// of the digits.
const MaxWritten = 12_000

var (
	// ErrWritten says that a number exceeds MaxWritten.
	ErrWritten = fmt.Errorf("the number is out of range: numbers that are stored may have up to %d digits on either side of the decimal point", MaxWritten)
	// ErrInfinite says that a number is infinite: JSON has no way to write it.
	ErrInfinite = errors.New("infinite numbers, such as the result of a division by zero, cannot be written to a state")
)

// Readable reports whether a number in a document, given as its text, is within MaxWritten, or within
// MaxDigits if it has an exponent. Text that is not a number is not judged.
func Readable(literal string) bool { return fits(literal, MaxWritten) }

// CheckWritten returns ErrInfinite or ErrWritten if a number cannot be written, because Readable would refuse
// the text. It costs as much as writing a number that can be.
func CheckWritten(n *big.Float) error {
	if n.IsInf() {
		return ErrInfinite
	}
	exp := n.MantExp(nil)
	switch whole, fraction := exp*log10of2/1000, (int(n.Prec())-exp)*log10of2/1000; {
	case max(whole, fraction) < MaxWritten/2:
		return nil
	case max(exp, -exp) > 4*MaxWritten, !Readable(n.Text('f', -1)):
		return ErrWritten
	}
	return nil
}

// precision is the precision of numbers that are read, in bits.
const precision = 512

// Written returns the number that n is read as after it was written, often n itself. It is another one if n
// has more digits than are kept, or is the nearest to a decimal number in a format of less precision; and 0
// has no sign, since elements of a set would differ in it. It fails as CheckWritten does.
func Written(n *big.Float) (*big.Float, error) {
	if n.Prec() > precision {
		n = new(big.Float).SetPrec(precision).Set(n)
	}
	if err := CheckWritten(n); err != nil {
		return nil, err
	}
	switch {
	case n.Sign() == 0 && n.Signbit():
		return new(big.Float), nil
	case n.Prec() == precision || n.IsInt() && n.MantExp(nil) <= int(n.Prec()):
		return n, nil // the text has all digits, or the fewest that identify it
	}
	read, err := cty.ParseNumberVal(n.Text('f', -1))
	if err != nil {
		return n, nil
	}
	if f := read.AsBigFloat(); f.Cmp(n) != 0 {
		return f, nil
	}
	return n, nil
}
