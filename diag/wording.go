package diag

import "github.com/mayfly-iac/mayfly/internal/base/pattern"

// Wordings of the libraries about types.
var (
	ofAnyType   = pattern.New(`\b(list|set|map) of dynamic\b`)
	inCondition = pattern.New(`('true'|'false') value is ([a-z])`)
)

// TypeWords rewrites a message of the libraries about types so that it reads as a sentence: "list of any
// single type" for "list of dynamic", and articles before the types of values.
func TypeWords(text string) string {
	text = ofAnyType().ReplaceAllString(text, "$1 of any single type")
	return inCondition().ReplaceAllStringFunc(text, func(s string) string {
		article, last := "a ", len(s)-1
		switch s[last] {
		case 'a', 'e', 'i', 'o', 'u':
			article = "an "
		}
		return s[:last] + article + s[last:]
	})
}
