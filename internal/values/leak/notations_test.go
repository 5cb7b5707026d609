package leak

import (
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestRememberNotations finds bytes in each notation, whichever of them the value is in.
func TestRememberNotations(t *testing.T) {
	from := Source{Kind: WriteOnly, Address: "random_id.a"}
	b := []byte{0xfb, 1, 0xff, 0x3e, 0x80, 7, 0x41, 0x9c}
	all := map[string]string{
		"hex": hex.EncodeToString(b), "upper hex": strings.ToUpper(hex.EncodeToString(b)),
		"base64": base64.StdEncoding.EncodeToString(b), "raw base64": base64.RawStdEncoding.EncodeToString(b),
		"base64 of URLs": base64.URLEncoding.EncodeToString(b), "raw base64 of URLs": base64.RawURLEncoding.EncodeToString(b),
		"decimal": new(big.Int).SetBytes(b).String(),
	}
	for as, value := range all {
		g := New()
		g.RememberNotations(from, cty.StringVal(value), cty.String)
		for name, text := range all {
			if got := slices.Collect(g.Matches("prefix-" + text + " and more")); len(got) == 0 {
				t.Errorf("%s is not found, the value being in %s", name, as)
			}
		}
	}
}

// TestRememberNotationsOfText finds a text whose Base64 is the value, and remembers nothing for other texts
// and short ones.
func TestRememberNotationsOfText(t *testing.T) {
	from := Source{Kind: WriteOnly, Address: "a.b"}
	g := New()
	g.RememberNotations(from, cty.StringVal(base64.StdEncoding.EncodeToString([]byte("user: CANARY-1"))), cty.String)
	if got := slices.Collect(g.Matches("it is user: CANARY-1.")); len(got) == 0 {
		t.Error("the text is not found")
	}
	for _, value := range []string{"", "0123456789", "abcdefgh", "correct horse battery", "00000000000000000000", "a-b-c-d-e-f-g_h!", "AAAAAAAAAAAAAAAA"} {
		g := New()
		g.RememberNotations(from, cty.StringVal(value), cty.String)
		if g.Knows() {
			t.Errorf("%q is taken for a notation", value)
		}
	}
}
