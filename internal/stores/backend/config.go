package backend

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// In says which backend an error about arguments is of. It returns nil for nil.
func In(kind string, err error) error {
	if err != nil {
		err = fmt.Errorf("the backend %q: %w", kind, err)
	}
	return err
}

// Config is the value of a configuration, or of a block or an object in it.
type Config struct{ cty.Value }

// TextOr returns an argument, or else the text otherwise.
func (c Config) TextOr(name, otherwise string) string {
	if v := c.GetAttr(name); !v.IsNull() {
		return v.AsString()
	}
	return otherwise
}

// Text returns an argument; "" if it is not set.
func (c Config) Text(name string) string { return c.TextOr(name, "") }

// Flag reports whether an argument is set and true.
func (c Config) Flag(name string) bool {
	v := c.GetAttr(name)
	return !v.IsNull() && v.True()
}

// Texts returns the elements of an argument that is a list or set of texts, without nulls; nil if it is not
// set.
func (c Config) Texts(name string) (out []string) {
	if v := c.GetAttr(name); !v.IsNull() {
		for _, e := range v.AsValueSlice() {
			if !e.IsNull() {
				out = append(out, e.AsString())
			}
		}
	}
	return out
}

// TextMap returns the elements of an argument that is a map of texts, without nulls; nil if it is not set.
func (c Config) TextMap(name string) map[string]string {
	v := c.GetAttr(name)
	if v.IsNull() {
		return nil
	}
	out := map[string]string{}
	for key, e := range v.AsValueMap() {
		if !e.IsNull() {
			out[key] = e.AsString()
		}
	}
	return out
}

// CountOr returns an argument of a kind that is a whole number and not negative, or else the number
// otherwise.
func (c Config) CountOr(kind, name string, otherwise int) (int, error) {
	v := c.GetAttr(name)
	if v.IsNull() {
		return otherwise, nil
	}
	n, accuracy := v.AsBigFloat().Int64()
	if accuracy != big.Exact || n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("the argument %q of the backend %q must be a whole number that is not negative", name, kind)
	}
	return int(n), nil
}

// Key returns an argument of a kind that is a key of 32 bytes in base64; nil if it is not set.
func (c Config) Key(kind, name string) ([]byte, error) {
	text := c.Text(name)
	if text == "" {
		return nil, nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("the argument %q of the backend %q must be a key of 32 bytes in base64", name, kind)
	}
	return key, nil
}

// Nested returns the first block of a name; false if there is none.
func (c Config) Nested(name string) (Config, bool) {
	if v := c.GetAttr(name); !v.IsNull() && v.LengthInt() > 0 {
		return Config{v.AsValueSlice()[0]}, true
	}
	return Config{}, false
}
