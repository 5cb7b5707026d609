package addr

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Key is an instance key: none, an integer (count), a string (for_each), or any key, for a block whose
// instances are not known yet. It is comparable; the zero value is NoKey.
type Key struct {
	kind KeyKind
	n    int
	s    string
}

// KeyKind tells which form of repetition a Key stands for.
type KeyKind uint8

// The kinds of instance keys, in the order in which Compare sorts them.
const (
	KeyNone KeyKind = iota
	KeyInt
	KeyString
	KeyAny
)

// NoKey is the key of an instance of an object that has neither count nor for_each.
var NoKey = Key{}

// AnyKey stands for the keys of a block whose instances are not known yet. It is in addresses that are shown,
// and in no state: parsing never returns it.
var AnyKey = Key{kind: KeyAny}

// IntKey returns the key of a count instance.
func IntKey(n int) Key { return Key{kind: KeyInt, n: n} }

// StringKey returns the key of a for_each instance.
func StringKey(s string) Key { return Key{kind: KeyString, s: s} }

// Kind returns the kind of k.
func (k Key) Kind() KeyKind { return k.kind }

// Int returns the index of an integer key, and 0 for other kinds.
func (k Key) Int() int { return k.n }

// Str returns the text of a string key, and "" for other kinds.
func (k Key) Str() string { return k.s }

// Value returns the key as a value of the language: a number, a string, an unknown value for AnyKey, or
// cty.NilVal for NoKey.
func (k Key) Value() cty.Value {
	switch k.kind {
	case KeyInt:
		return cty.NumberIntVal(int64(k.n))
	case KeyString:
		return cty.StringVal(k.s)
	case KeyAny:
		return cty.DynamicVal
	default:
		return cty.NilVal
	}
}

// MarshalJSON implements json.Marshaler: a number, a string, true for AnyKey, or null for NoKey. With the
// option omitzero, NoKey is left out of an object.
func (k Key) MarshalJSON() ([]byte, error) {
	switch k.kind {
	case KeyInt:
		return json.Marshal(k.n)
	case KeyString:
		return json.Marshal(k.s)
	case KeyAny:
		return []byte("true"), nil
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON implements json.Unmarshaler. It returns an error for anything that MarshalJSON does not
// write, such as a negative number.
func (k *Key) UnmarshalJSON(src []byte) error {
	var n int
	var s string
	switch {
	case string(src) == "null":
		*k = NoKey
	case string(src) == "true":
		*k = AnyKey
	case json.Unmarshal(src, &n) == nil && n >= 0:
		*k = IntKey(n)
	case json.Unmarshal(src, &s) == nil:
		*k = StringKey(s)
	default:
		return errors.New("an instance key is neither a whole number nor a string")
	}
	return nil
}

// String returns the key in brackets as it stands in an address, or "" for NoKey.
func (k Key) String() string {
	switch k.kind {
	case KeyInt:
		return "[" + strconv.Itoa(k.n) + "]"
	case KeyString:
		return "[" + quote(k.s) + "]"
	case KeyAny:
		return `["*"]`
	default:
		return ""
	}
}

// Compare orders keys: none, integers ascending, strings ascending, any key.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.kind, o.kind); c != 0 {
		return c
	}
	if c := cmp.Compare(k.n, o.n); c != 0 {
		return c
	}
	return strings.Compare(k.s, o.s)
}

// quote writes s as a quoted string of the language, template introducers escaped.
func quote(s string) string {
	var sb strings.Builder
	sb.WriteByte('"')
	for i, r := range s {
		switch r {
		case '"', '\\':
			sb.WriteByte('\\')
			sb.WriteRune(r)
		case '\n':
			sb.WriteString(`\n`)
		case '\r':
			sb.WriteString(`\r`)
		case '\t':
			sb.WriteString(`\t`)
		case '$', '%':
			sb.WriteRune(r)
			if strings.HasPrefix(s[i+1:], "{") {
				sb.WriteRune(r)
			}
		default:
			if strconv.IsPrint(r) {
				sb.WriteRune(r)
			} else if r > 0xffff {
				sb.WriteString(`\U`)
				sb.WriteString(hex(r, 8))
			} else {
				sb.WriteString(`\u`)
				sb.WriteString(hex(r, 4))
			}
		}
	}
	sb.WriteByte('"')
	return sb.String()
}

func hex(r rune, width int) string {
	h := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", width-len(h)) + h
}
