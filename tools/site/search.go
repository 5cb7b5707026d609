package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// searchIndex returns the script with the text of all documents, by sections. A page may load a script from
// beside it where it may load nothing else, as from a disk.
func (s *site) searchIndex(groups []group) ([]byte, error) {
	order := []*page{s.pages[first[0]], s.pages[index]}
	for _, g := range groups {
		for _, i := range g.items {
			order = append(order, i.page)
		}
	}
	var out struct {
		Listed   int         `json:"listed"`   // how many pages, the first ones, are in the navigation of all pages
		Pages    [][2]string `json:"pages"`    // path and title
		Sections [][4]any    `json:"sections"` // number of the page, id, heading, text
	}
	out.Listed = len(order)
	for _, name := range sortedKeys(s.pages) {
		if p := s.pages[name]; !slices.Contains(order, p) {
			order = append(order, p)
		}
	}
	for n, p := range order {
		for _, part := range p.sections {
			out.Sections = append(out.Sections, [4]any{n, part.id, part.heading, part.text})
		}
		out.Pages = append(out.Pages, [2]string{p.url, p.title})
	}
	text, err := json.Marshal(out)
	return fmt.Appendf(nil, "window.searchIndex = %s;\n", text), err
}
