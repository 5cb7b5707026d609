package leak

import (
	"encoding/base64"
	"encoding/hex"
	"hash/maphash"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
)

// maxDecimal is how many digits of a number are converted, which takes quadratic time.
const maxDecimal = 1000

// RememberNotations remembers the other notations of texts that are notations of bytes: hexadecimal, Base64,
// decimal, and the bytes as a text. A provider that makes random bytes may return them in all of these. It is
// for values that a provider must keep apart, beside RememberOwn, which takes the same arguments.
func (g *Guard) RememberNotations(from Source, v cty.Value, ty cty.Type) {
	if g == nil {
		return
	}
	each(v, ty, func(t text) bool {
		if t.key || !t.isValue() {
			return true
		}
		for _, b := range readings(t.text) {
			if isSecret(asText(b)) {
				g.rememberNotations(from, b, t.ephemeral || t.sensitive, t.ephemeral)
			}
		}
		return true
	})
}

func (g *Guard) rememberNotations(from Source, b []byte, confidential, ephemeral bool) {
	var sum maphash.Hash
	sum.SetSeed(g.seed)
	_, _ = sum.WriteString("notations of ") // never fails
	_, _ = sum.Write(b)
	id := sum.Sum64()
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.secrets[id]
	if one == nil {
		one = &secret{sources: map[Source]bool{}}
		g.secrets[id] = one
		codes(b, func(text []byte, next edges) { g.add(spelling{text: asText(text), next: next}, one) })
		if digits := new(big.Int).SetBytes(b).String(); len(b)*3 <= maxDecimal && isSecret(digits) {
			g.add(spelling{text: digits}, one)
		}
		if s := string(b); isPrintable(s) && !isWord(s) {
			g.add(spelling{text: s}, one)
		}
		g.count.Add(1)
	}
	one.sources[from] = one.sources[from] || confidential
	one.ephemeral = one.ephemeral || ephemeral
}

// readings returns the bytes that a text may be a notation of, if they are enough to be recognized: chance
// does not make the other notations of eight bytes.
func readings(s string) (out [][]byte) {
	add := func(b []byte, err error) {
		if err == nil && len(b) >= MinLength {
			out = append(out, b)
		}
	}
	if strings.Trim(s, "0123456789") == "" && len(s) <= maxDecimal {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			add(n.Bytes(), nil)
		}
	}
	b, err := hex.DecodeString(s)
	if add(b, err); err == nil {
		return out
	}
	bare := strings.TrimRight(s, "=")
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := alphabet.Strict().DecodeString(bare); err == nil {
			add(b, nil)
			break
		}
	}
	return out
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0
}
