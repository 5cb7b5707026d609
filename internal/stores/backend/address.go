package backend

import (
	"net/url"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// Credentials in an address: the user, who may be a token, with the password, and parameters whose names say
// that their values are secret.
var (
	userInAddress  = pattern.New(`^([a-zA-Z][a-zA-Z0-9+.-]*://)([^/?#]*)@`)
	secretInQuery  = pattern.New(`(?i)([?&][^=&#]*(?:token|secret|passw|credential|signature|api_?key|access_?key)[^=&#]*=|[?&]sig=)([^&#]+)`)
	isAddressAtAll = pattern.New(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)
)

// withoutCredentials returns a value whose addresses have no credentials in them.
func withoutCredentials(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		v, marks := v.Unmark()
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && isAddressAtAll().MatchString(v.AsString()) {
			text := userInAddress().ReplaceAllString(v.AsString(), "$1")
			v = cty.StringVal(secretInQuery().ReplaceAllString(text, "$1"))
		}
		return v.WithMarks(marks), nil
	})
	if err != nil {
		return cty.NullVal(v.Type()) // a transformation that cannot fail has failed
	}
	return out
}

// credentialsIn returns the credentials in the addresses of a value, as they are written and decoded.
func credentialsIn(v cty.Value) []string {
	v, _ = v.UnmarkDeep()
	var out []string
	add := func(text string) {
		if text == "" {
			return
		}
		out = append(out, text)
		if plain, err := url.QueryUnescape(text); err == nil && plain != text {
			out = append(out, plain)
		}
	}
	leak.Texts(v, func(text string) bool {
		if !isAddressAtAll().MatchString(text) {
			return true
		}
		if m := userInAddress().FindStringSubmatch(text); m != nil {
			name, password, _ := strings.Cut(m[2], ":")
			add(password)
			if password == "" {
				add(name)
			}
		}
		for _, m := range secretInQuery().FindAllStringSubmatch(text, -1) {
			add(m[2])
		}
		return true
	})
	return out
}
