package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// index is the document with the navigation: a section for each group, and the first link to a page names it.
const index = "docs/README.md"

// first are the documents outside of docs that the site has anyway. Others come in by links to them.
var first = []string{"README.md", "CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}

// maxSource bounds the size of a file that becomes a page by a link.
const maxSource = 1 << 20

// assets are the style sheet and the script of every page.
//
//go:embed assets
var assets embed.FS

// site is the site made from the repository's documents.
type site struct {
	fsys     fs.FS
	pages    map[string]*page // by path in the repository
	images   map[string]bool  // likewise
	queue    []*page          // pages whose links have not been followed
	problems []error
}

// page is a page of the site.
type page struct {
	source   string // path in the repository
	url      string // path in the site
	title    string
	body     []byte // HTML
	headings []heading
	sections []section // for the search
	document *document // nil for a page that shows a file as it is
}

// heading is a heading within a page.
type heading struct {
	Level    int
	Text, ID string
}

// section is the text between two headings.
type section struct{ heading, id, text string }

// build returns the files of the site of a repository, by path. The error has all dead links, one per line.
func build(fsys fs.FS) (map[string][]byte, error) {
	s := &site{fsys: fsys, pages: map[string]*page{}, images: map[string]bool{}}
	names, err := fs.Glob(fsys, "docs/*.md")
	if err != nil {
		return nil, err
	}
	deeper, err := fs.Glob(fsys, "docs/*/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(first, names, deeper) {
		if _, err := s.add(name); err != nil {
			return nil, err
		}
	}
	for len(s.queue) > 0 {
		p := s.queue[0]
		s.queue = s.queue[1:]
		s.follow(p)
	}
	if err := errors.Join(s.problems...); err != nil {
		return nil, err
	}
	files, err := s.write()
	if err != nil {
		return nil, err
	}
	return files, check(files)
}

// add adds the page of a file, unless it is there already.
func (s *site) add(name string) (*page, error) {
	if p := s.pages[name]; p != nil {
		return p, nil
	}
	text, err := fs.ReadFile(s.fsys, name)
	if err != nil {
		return nil, err
	}
	p := &page{source: name, url: urlOf(name)}
	for _, other := range s.pages {
		if other.url == p.url {
			return nil, fmt.Errorf("%s and %s would both be the page %s", other.source, name, p.url)
		}
	}
	switch {
	case path.Ext(name) == ".md":
		p.read(text)
	case len(text) > maxSource || !utf8.Valid(text):
		return nil, fmt.Errorf("%s is not a text, or is larger than %d bytes", name, maxSource)
	default:
		p.show(text)
	}
	s.pages[name] = p
	s.queue = append(s.queue, p)
	return p, nil
}

// urlOf returns the path of a file's page in the site.
func urlOf(name string) string {
	dir, base := path.Split(name)
	stem, isDocument := strings.CutSuffix(base, ".md")
	switch {
	case base == "README.md":
		return dir + "index.html"
	case isDocument:
		return dir + stem + ".html"
	}
	return name + ".html"
}

// follow adds the targets of a document's links, and changes these to links between pages.
func (s *site) follow(p *page) {
	if p.document == nil {
		return
	}
	for _, line := range p.document.html {
		s.problems = append(s.problems, fmt.Errorf("%s:%d: HTML is not shown: write Markdown", p.source, line))
	}
	for _, l := range p.document.links {
		to, err := s.resolve(p, l.to)
		if err != nil {
			s.problems = append(s.problems, fmt.Errorf("%s:%d: %w", p.source, l.line, err))
			continue
		}
		l.set(to)
	}
	p.body = p.document.render()
}

// resolve returns the target of a link in a document, relative to the document's page. It reports a target
// that does not exist; whether a page has the heading is left to check, for which all pages are needed.
func (s *site) resolve(p *page, link string) (string, error) {
	if scheme, _, ok := strings.Cut(link, ":"); ok && !strings.ContainsAny(scheme, "/#") {
		if !slices.Contains([]string{"https", "mailto"}, scheme) {
			return "", fmt.Errorf("the link %s is not one by https", link)
		}
		return link, nil
	}
	name, fragment, _ := strings.Cut(link, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	if name == "" {
		return fragment, nil
	}
	name = path.Join(path.Dir(p.source), name)
	info, err := fs.Stat(s.fsys, name)
	if err == nil && info.IsDir() {
		name += "/README.md"
		_, err = fs.Stat(s.fsys, name)
	}
	if err != nil {
		return "", fmt.Errorf("the link to %s leads nowhere: there is no file %s", link, name)
	}
	if slices.Contains([]string{".svg", ".png"}, path.Ext(name)) {
		s.images[name] = true
		return relative(p.url, name), nil
	}
	to, err := s.add(name)
	if err != nil {
		return "", err
	}
	return relative(p.url, to.url) + fragment, nil
}

// relative returns the path from a page to another file of the site.
func relative(from, to string) string {
	up := strings.Split(path.Dir(from), "/")
	down := strings.Split(path.Dir(to), "/")
	if path.Dir(from) == "." {
		up = nil
	}
	if path.Dir(to) == "." {
		down = nil
	}
	for len(up) > 0 && len(down) > 0 && up[0] == down[0] {
		up, down = up[1:], down[1:]
	}
	return strings.Repeat("../", len(up)) + strings.Join(append(slices.Clone(down), path.Base(to)), "/")
}

// group is a part of the navigation.
type group struct {
	title string
	items []item
}

// item is a page in the navigation.
type item struct {
	name string
	page *page
}

// groups returns the navigation: the pages that the index links to, by its sections and with the words of its
// links, and then the other pages. A page that is in a directory with an index of its own is left to that.
func (s *site) groups() []group {
	links := slices.DeleteFunc(slices.Clone(s.pages[index].document.links), func(l *link) bool {
		return s.pages[l.source] == nil || l.source == index || l.section == ""
	})
	chosen := map[*page]*link{} // the link that places and names a page: the first one that is not to a heading
	for _, l := range links {
		target := s.pages[l.source]
		if was := chosen[target]; was == nil || l.whole && !was.whole {
			chosen[target] = l
		}
	}
	var out []group
	for _, l := range links {
		target := s.pages[l.source]
		if chosen[target] != l {
			continue
		}
		if n := len(out); n == 0 || out[n-1].title != l.section {
			out = append(out, group{title: l.section})
		}
		next := item{name: target.title, page: target}
		if l.whole {
			next.name = capital(l.text)
		}
		out[len(out)-1].items = append(out[len(out)-1].items, next)
	}
	more := group{title: "More"}
	for _, name := range sortedKeys(s.pages) {
		other := s.pages[name]
		home := s.pages[path.Join(path.Dir(name), "README.md")]
		if chosen[other] != nil || name == "README.md" || name == index || other.document == nil || home != nil && home != other && path.Dir(name) != "docs" && path.Dir(name) != "." {
			continue
		}
		more.items = append(more.items, item{page: other, name: other.title})
	}
	if len(more.items) > 0 {
		out = append(out, more)
	}
	return out
}

// beside returns the pages in the directory of a page that has an index of its own.
func (s *site) beside(p *page) []*page {
	dir := path.Dir(p.source)
	if dir == "." || dir == "docs" || s.pages[dir+"/README.md"] == nil {
		return nil
	}
	var out []*page
	for _, name := range sortedKeys(s.pages) {
		if path.Dir(name) == dir && path.Base(name) != "README.md" {
			out = append(out, s.pages[name])
		}
	}
	return out
}
