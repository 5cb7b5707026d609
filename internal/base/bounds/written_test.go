package bounds

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestWrittenIsReadable: CheckWritten accepts a number if, and only if, its text is accepted when it is read.
func TestWrittenIsReadable(t *testing.T) {
	number := func(s string) *big.Float { return cty.MustParseNumberVal(s).AsBigFloat() }
	third := new(big.Float).Quo(number("1e-11860"), number("3"))
	for _, n := range []*big.Float{
		number("0"), number("-0"), number("1e-9999"), number("1e11999"), number("-1e11999"), number("1e12000"), number("-1e12000"), number("1e-12000"), number("1e-12001"), third,
		number(strings.Repeat("9", MaxWritten)), number("-" + strings.Repeat("9", MaxWritten+1)), number("-1e-11999"),
	} {
		text := n.Text('f', -1)
		err := CheckWritten(n)
		if (err == nil) != Readable(text) || (err == nil) != (JSONNumbers([]byte(`[`+text+`]`), false) == nil) {
			t.Errorf("CheckWritten(a number of %d bytes that starts with %.20s): got %v, want the same as when it is read", len(text), text, err)
		}
		if _, stored := CheckStored([]byte("{\n\"a\": "+text+"}"), MaxLevels); (err == nil) != (stored == nil) {
			t.Errorf("CheckStored(a number of %d bytes that starts with %.20s): got %v, want the same as CheckWritten: %v", len(text), text, stored, err)
		}
	}
	if err := CheckWritten(new(big.Float).SetInf(true)); !errors.Is(err, ErrInfinite) {
		t.Error(err)
	}
	if err := CheckWritten(new(big.Float).SetMantExp(big.NewFloat(1), math.MinInt32+2)); !errors.Is(err, ErrWritten) {
		t.Error(err)
	}
}

func TestCheckStoredNamesTheLine(t *testing.T) {
	line, err := CheckStored([]byte("{\n\n\"a\": 1"+strings.Repeat("0", MaxWritten)+"}"), MaxLevels)
	if line != 3 || !errors.Is(err, ErrWritten) {
		t.Error(line, err)
	}
	if _, err := CheckStored([]byte(`{"a": 1e11000}`), MaxLevels); !errors.Is(err, ErrWritten) {
		t.Error("a number with an exponent:", err)
	}
}

func TestWritten(t *testing.T) {
	written := func(n *big.Float) *big.Float {
		t.Helper()
		read, err := Written(n)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	if got := written(big.NewFloat(0.1)); got.Text('f', -1) != "0.1" || got.Prec() != precision {
		t.Errorf("0.1 in a format of 53 bits: got %s, with %d bits, want 0.1, with %d bits", got.Text('f', -1), got.Prec(), uint(precision))
	}
	if got := written(new(big.Float).Neg(new(big.Float))); got.Signbit() {
		t.Error("0 has a sign")
	}
	wide, _ := new(big.Float).SetPrec(2000).SetString(strings.Repeat("123456789", 40))
	if got := written(wide); got.Cmp(cty.MustParseNumberVal(wide.Text('f', -1)).AsBigFloat()) != 0 {
		t.Error("a number with more digits than are kept is another one than its text")
	}
	for _, n := range []*big.Float{big.NewFloat(0.5), big.NewFloat(12), cty.MustParseNumberVal("0.1").AsBigFloat(), new(big.Float).SetInt64(math.MinInt64)} {
		if written(n) != n {
			t.Errorf("written(%s): got another number %s, want the same one", n, written(n))
		}
	}
	// What expressions can make of the largest precision and the smallest size is within the bound.
	long, _ := new(big.Float).SetPrec(33_000).SetString("1" + strings.Repeat("3", MaxDigits-1))
	written(new(big.Float).Quo(new(big.Float).SetPrec(33_000).SetInt64(7), long))
	if _, err := Written(new(big.Float).SetInf(false)); !errors.Is(err, ErrInfinite) {
		t.Error(err)
	}
}

// TestOnlyNumbersAreJudged takes texts that begin like numbers, and names of members, for what they are.
func TestOnlyNumbersAreJudged(t *testing.T) {
	for _, text := range []string{"", "e", "E", "-e", "e99999", "1e", "1e+", ".", "+", "1e99999x", "e-"} {
		if !Printable(text) {
			t.Errorf("%q counts as a number", text)
		}
	}
	for text, want := range map[string]error{
		`{"1e99999": true}`:            nil,
		"{\"1e99999\"\n\t\r :true}":    nil,
		`["1e99999"]`:                  ErrWritten,
		`{"1e99999":"1e99999"}`:        ErrWritten,
		`{"a":1,"1e99999":[1e99999]}`:  ErrWritten,
		`"1e99999`:                     ErrWritten,
		`{"e":false,"E": 1, "-1e": 2}`: nil,
	} {
		if err := JSONNumbers([]byte(text), true); !errors.Is(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
