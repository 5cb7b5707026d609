package encryption

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// RememberSource has the guard remember the text after the names of secret arguments in the source of an
// encryption block. The source may be wrong: errors about it, such as about a passphrase without quotes, may
// then quote a piece of it.
func RememberSource(g *leak.Guard, name, src string) {
	from := leak.Source{Kind: leak.Credential, Address: name}
	for _, behind := range secretArgument().FindAllStringSubmatch(src, -1) {
		for _, part := range append(quotedPart().FindAllString(behind[1], -1), wordPart().FindAllString(behind[1], -1)...) {
			if part = strings.Trim(part, `"\`); plainPart().MatchString(part) {
				continue
			}
			root, _, _ := strings.Cut(part, ".") // of a supposed reference
			for _, text := range []string{part, strings.TrimSuffix(root, "(")} {
				g.Remember(from, cty.StringVal(text).Mark(value.Sensitive), cty.String)
			}
		}
	}
}

var (
	quotedPart = pattern.New(`"(?:[^"\\]|\\.)*"?`)
	wordPart   = pattern.New(`[^\s"'(){}\[\],$]+\(?`)
	plainPart  = pattern.New(`^[a-z]+\d*[a-z]*\($|^(?:var|local|path|terraform|tofu)\.`) // calls and references
)

// secretArgument matches a secret argument in either syntax, and its possible value: a string, or else the
// rest of the line.
var secretArgument = sync.OnceValue(func() *regexp.Regexp {
	names := map[string]bool{}
	add := func(kinds map[string]argument) {
		for name, a := range kinds {
			if a.secret {
				names[name] = true
			}
		}
	}
	for _, kind := range keyProviders.types {
		add(kind.arguments)
	}
	for _, kind := range methods.types {
		add(kind.arguments)
	}
	return regexp.MustCompile(`(?:^|[\s"{])(?:` + strings.Join(slices.Sorted(maps.Keys(names)), "|") + `)"?\s*[=:]\s*("(?:[^"\\\n]|\\.)*"|[^\n]*)`)
})
