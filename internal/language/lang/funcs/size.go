package funcs

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

var errProduct = fmt.Errorf("the result is too large: a product of sets may have up to %d elements", bounds.MaxProduct)

// checkSize returns an error if a call would make a result out of all proportion to its arguments, which must
// be found out before memory is exhausted. Whether a result is too large may show the length of a secret
// text, but never its content.
func checkSize(name string, args []cty.Value) error {
	switch name {
	case "jsondecode":
		return bounds.CheckJSON([]byte(plainText(args[0])), bounds.MaxLevels)
	case "tonumber": // a text that is too large for the floating-point format would become infinite
		if !bounds.Printable(plainText(args[0])) {
			return bounds.ErrNumber
		}
	case "setproduct":
		return checkProduct(args)
	case "replace":
		return checkReplace(args)
	case "join":
		return checkJoin(args)
	case "format", "formatlist":
		return checkFormat(plainText(args[0]), args[1:])
	}
	return nil
}

// maxWidth bounds the width and the precision of a format's verbs. Beyond it, package fmt writes no number.
const maxWidth = 1_000_000

var errWidth = fmt.Errorf("the format is out of range: widths and precisions may be up to %d", maxWidth)

// width matches the numbers in the verbs of a format.
var width = pattern.New(`%[-+ #0]*(?:\[\d*\][-+ #0]*)?(\d*)(?:\.(\d*))?`)

// checkFormat adds up the widths and precisions of a format, for as many texts as the longest list has
// elements.
func checkFormat(format string, args []cty.Value) error {
	total, texts := 0, 1
	for _, verb := range width().FindAllStringSubmatch(strings.ReplaceAll(format, "%%", ""), -1) {
		for _, digits := range verb[1:] {
			n, err := strconv.Atoi("0" + digits)
			if err != nil || n > maxWidth {
				return errWidth
			}
			total += n
		}
	}
	for _, arg := range args {
		texts = max(texts, bounds.Size(arg, 1))
	}
	if total > bounds.MaxText || total/bounds.TextPerElement*texts > bounds.MaxMade {
		return bounds.ErrText
	}
	return nil
}

// checkProduct checks how many elements a product of collections has, before it is built. Unknown collections
// are checked once they are known.
func checkProduct(args []cty.Value) error {
	product := 1
	for _, arg := range args {
		bare, _ := arg.Unmark()
		if !bare.IsKnown() || bare.IsNull() || !bare.CanIterateElements() || bare.Type().IsSetType() && !bare.IsWhollyKnown() {
			continue
		}
		product = min(product, bounds.MaxProduct+1) * bare.LengthInt() // so that it cannot overflow, and none is none
	}
	if product > bounds.MaxProduct {
		return errProduct
	}
	return nil
}

// checkReplace counts only literal matches. A regular expression finds at most one match per byte.
func checkReplace(args []cty.Value) error {
	text, old, with := plainText(args[0]), plainText(args[1]), plainText(args[2])
	if len(with) <= len(old) && !isPattern(old) || len(text)*(len(with)+1) <= bounds.MaxText {
		return nil
	}
	if isPattern(old) {
		return checkLength(len(text) * (len(with) + 1))
	}
	return checkLength(len(text) + strings.Count(text, old)*(len(with)-len(old)))
}

func isPattern(old string) bool { return len(old) > 1 && old[0] == '/' && old[len(old)-1] == '/' }

// checkJoin checks the length of joined text before it is built.
func checkJoin(args []cty.Value) error {
	separator, total := len(plainText(args[0])), 0
	for _, list := range args[1:] {
		list, _ = list.Unmark()
		if !list.IsWhollyKnown() || list.IsNull() || !list.CanIterateElements() {
			continue
		}
		for _, e := range list.Elements() {
			total += separator + len(plainText(e))
		}
	}
	return checkLength(total)
}

func checkLength(n int) error {
	if n > bounds.MaxText {
		return bounds.ErrText
	}
	return nil
}

// readText reads to the end. If there is more than a text can have, it fails with bounds.ErrText and reads
// no further.
func readText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, bounds.MaxText+1))
	if err != nil {
		return nil, err
	}
	return text, checkLength(len(text))
}

// plainText returns the text of a known string, without its marks, or else the empty string.
func plainText(v cty.Value) string {
	v, _ = v.Unmark()
	if v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return ""
	}
	return v.AsString()
}

// checkResult returns an error if a result exceeds a bound on numbers and texts.
func checkResult(name string, v cty.Value) error {
	if name == "yamldecode" { // makes numbers of text anywhere in its result
		if err := bounds.CheckNumbers(v); err != nil {
			return err
		}
	}
	return bounds.CheckValue(v)
}
