package metadata

import (
	"strings"

	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Functions returns the JSON document that describes the functions of the language, on one line.
func Functions() ([]byte, error) { return document.Functions(Signatures()) }

// Signatures describes the functions of the language, each under its plain and its namespaced name.
// Functions of providers are in the document of their schemas.
func Signatures() map[string]*schema.Function {
	texts := funcs.Descriptions()
	out := map[string]*schema.Function{}
	for name, f := range funcs.Table(funcs.Options{}) {
		// These two are obsolete and only name their replacement.
		if plain := strings.TrimPrefix(name, funcs.CorePrefix); plain == "list" || plain == "map" {
			continue
		}
		out[name] = document.Described(f, texts[strings.TrimPrefix(name, funcs.CorePrefix)])
	}
	return out
}
