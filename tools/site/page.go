package main

import (
	"bytes"
	"html/template"
	"io/fs"
	"path"
	"strings"
)

// layout is the template of all pages.
var layout = template.Must(template.ParseFS(assets, "assets/layout.html"))

// view has the data of a page for the template.
type view struct {
	Title    string
	Root     string // the path to the root of the site, "" or ending with a slash
	Home     entry
	Index    entry
	Groups   []viewGroup
	Contents []heading
	Body     template.HTML
}

type viewGroup struct {
	Title   string
	Entries []entry
}

// entry is a link of the navigation.
type entry struct {
	Name, URL string
	Current   bool
	Beside    []entry // the other pages of the directory, if the page shown is one of them
}

// write returns the files of the site.
func (s *site) write() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name := range s.images {
		image, err := fs.ReadFile(s.fsys, name)
		if err != nil {
			return nil, err
		}
		files[name] = image
	}
	for _, name := range []string{"style.css", "site.js"} {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	groups := s.groups()
	for _, p := range s.pages {
		var out bytes.Buffer
		if err := layout.Execute(&out, s.view(p, groups)); err != nil {
			return nil, err
		}
		files[p.url] = out.Bytes()
	}
	text, err := s.searchIndex(groups)
	files["search-index.js"] = text
	return files, err
}

// view returns the data of a page for the template.
func (s *site) view(p *page, groups []group) view {
	home, contents := s.pages[first[0]], s.pages[index]
	v := view{
		Title: p.title, Root: strings.Repeat("../", strings.Count(p.url, "/")), Body: template.HTML(p.body),
		Home: entry{Name: home.title, URL: relative(p.url, home.url), Current: p == home}, Index: entry{Name: contents.title, URL: relative(p.url, contents.url), Current: p == contents},
	}
	const deepest = 3
	for _, h := range p.headings {
		if 1 < h.Level && h.Level <= deepest {
			v.Contents = append(v.Contents, h)
		}
	}
	beside := s.beside(p)
	for _, g := range groups {
		shown := viewGroup{Title: g.title}
		for _, i := range g.items {
			e := entry{Name: i.name, URL: relative(p.url, i.page.url), Current: i.page == p}
			if len(beside) > 0 && i.page == s.pages[path.Dir(p.source)+"/README.md"] {
				for _, b := range beside {
					e.Beside = append(e.Beside, entry{Name: b.title, URL: relative(p.url, b.url), Current: b == p})
				}
			}
			shown.Entries = append(shown.Entries, e)
		}
		v.Groups = append(v.Groups, shown)
	}
	return v
}

// capital returns a text with its first letter as a capital.
func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
