package withheld

import (
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// StandIn returns a prior object with values that stand in for those that it lacks, and their paths; none if
// there is nothing to stand in for. Each has the form of the value in the configuration and another content,
// of which it tells no more than the length; for a text that is not known yet, the form of a private key.
// Some providers require the replacement of an object only if the prior one has a value, or a key, which null
// hides. The result only serves to ask whether a change requires that.
func (a *Attributes) StandIn(prior cty.Value, stored *state.Object, cfg cty.Value) (v cty.Value, paths []cty.Path) {
	v = prior
	for _, w := range Missing(prior, stored) {
		now := part(cfg, w.Path)
		if now == cty.NilVal || a.ignored(w.Path) {
			continue
		}
		if other := standIn(now); other.IsWhollyKnown() && !other.RawEquals(now) {
			v, paths = schema.Put(v, w.Path, other), append(paths, w.Path)
		}
	}
	return v, paths
}

// standIn returns a value with other primitive values in it.
func standIn(v cty.Value) cty.Value {
	other, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		switch {
		case v.IsNull():
		case !v.IsKnown() && v.Type() == cty.String:
			return cty.StringVal(standInKey), nil
		case !v.IsKnown():
		case v.Type() == cty.String:
			return cty.StringVal(standInText(v.AsString())), nil
		case v.Type() == cty.Number && v.RawEquals(cty.Zero):
			return cty.NumberIntVal(1), nil
		case v.Type() == cty.Number:
			return cty.Zero, nil
		case v.Type() == cty.Bool:
			return v.Not(), nil
		}
		return v, nil
	})
	if err != nil {
		return v
	}
	return other
}

// standInKey stands in for a text that is not known.
const standInKey = "-----BEGIN PRIVATE KEY-----\nxxxxxxxx\n-----END PRIVATE KEY-----\n"

// standInText returns a text of the same form. Lines that begin and end a block of PEM are kept: they name
// its content, and providers look for them.
func standInText(text string) string {
	letter, digit := 'x', '0'
	replace := func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			return letter
		case unicode.IsDigit(r):
			return digit
		}
		return r
	}
	fill := func() string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "-----") {
				line = strings.Map(replace, line)
			}
			out.WriteString(line)
		}
		return out.String()
	}
	if out := fill(); out != text {
		return out
	}
	letter, digit = 'y', '1'
	if out := fill(); out != text {
		return out
	}
	return text + "x"
}
