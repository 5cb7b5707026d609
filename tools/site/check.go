package main

import (
	"errors"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"
)

// The pages are written by this program, in one form.
var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	identity  = regexp.MustCompile(` id="([^"]*)"`)
)

// check follows all links of the pages that were made, and returns those that lead nowhere.
func check(files map[string][]byte) error {
	ids := map[string]map[string]bool{}
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		ids[name] = map[string]bool{}
		for _, m := range identity.FindAllSubmatch(text, -1) {
			ids[name][html.UnescapeString(string(m[1]))] = true
		}
	}
	var problems []error
	for _, name := range sortedKeys(ids) {
		for _, m := range reference.FindAllSubmatch(files[name], -1) {
			link := html.UnescapeString(string(m[1]))
			if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			to, fragment, _ := strings.Cut(link, "#")
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			switch {
			case files[target] == nil:
				problems = append(problems, fmt.Errorf("%s: the link to %s leads nowhere", name, link))
			case fragment != "" && !ids[target][fragment]:
				problems = append(problems, fmt.Errorf("%s: the link to %s leads to no heading of that page", name, link))
			}
		}
	}
	return errors.Join(problems...)
}
