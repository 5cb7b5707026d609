package cloud

import (
	"iter"
	"maps"
	"net/url"
)

// Pages returns the names in a list that a service returns in pages. page asks for one, and returns its names
// and the marker of the next page, "" for none, which is a parameter of the next request.
func Pages(query url.Values, parameter string, page func(query url.Values) (names []string, marker string, err error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := maps.Clone(query)
		for {
			names, marker, err := page(query)
			if err != nil {
				yield("", err)
				return
			}
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
			}
			if marker == "" || marker == query.Get(parameter) {
				return
			}
			query.Set(parameter, marker)
		}
	}
}

// All returns all names of a list, or nil with an error.
func All(list iter.Seq2[string, error]) (names []string, err error) {
	for name, err := range list {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
