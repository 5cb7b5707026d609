package funcs

import (
	"math"
	"strings"
)

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

// made says of functions how many levels of their result are new, rather than taken from an argument. All
// others that return texts or collections make one.
var made = map[string]int{
	"assumeequal": 0, "assumenotnull": 0, "assumestringprefix": 0, "can": 0, "coalesce": 0, "coalescelist": 0, "element": 0, "ephemeralasnull": 0, "lookup": 0, "nonsensitive": 0, "one": 0,
	"sensitive": 0, "try": 0,
	"chunklist": 2, "csvdecode": 2, "regexall": 2, "setproduct": 2, "transpose": 2,
	"convert": math.MaxInt, "jsondecode": math.MaxInt, "yamldecode": math.MaxInt,
}

// Makes returns how many levels of the result of a function are new. It is 0 for functions whose result is
// one of their arguments, or neither a text nor a collection.
func Makes(name string) int {
	if levels, ok := made[strings.TrimPrefix(name, CorePrefix)]; ok {
		return levels
	}
	return 1
}
