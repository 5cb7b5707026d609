package funcs

import "strings"

// TakesCollections reports whether the function of that name has parameters of a type that tuples or objects
// are converted to.
func TakesCollections(name string) bool {
	f, ok := static[strings.TrimPrefix(name, CorePrefix)]
	if !ok {
		return false
	}
	params := f.Params()
	if rest := f.VarParam(); rest != nil {
		params = append(params, *rest)
	}
	for _, p := range params {
		if p.Type.IsCollectionType() {
			return true
		}
	}
	return false
}
