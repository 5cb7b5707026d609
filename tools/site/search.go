package main

import (
	"encoding/json"
	"fmt"
)

// searchIndex returns the script with the text of all documents, by sections. A page may load a script from
// beside it where it may load nothing else, as from a disk.
func (s *site) searchIndex() ([]byte, error) {
	var out struct {
		Pages    [][2]string `json:"pages"`    // path and title
		Sections [][4]any    `json:"sections"` // number of the page, id, heading, text
	}
	for _, name := range sortedKeys(s.pages) {
		p := s.pages[name]
		if p.document == nil {
			continue
		}
		for _, part := range p.sections {
			out.Sections = append(out.Sections, [4]any{len(out.Pages), part.id, part.heading, part.text})
		}
		out.Pages = append(out.Pages, [2]string{p.url, p.title})
	}
	text, err := json.Marshal(out)
	return fmt.Appendf(nil, "window.searchIndex = %s;\n", text), err
}
