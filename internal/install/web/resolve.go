package web

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Below returns an address below another, whose path stays as it is: services may have empty elements in it,
// which mean something to them.
func Below(base *url.URL, elements ...string) *url.URL {
	u := *base
	u.Path, u.RawPath = strings.TrimSuffix(base.Path, "/"), strings.TrimSuffix(base.EscapedPath(), "/")
	for _, e := range elements {
		u.Path += "/" + e
		u.RawPath += "/" + url.PathEscape(e)
	}
	return &u
}

// Resolve parses an address in a document, which may be relative to the document's. An encrypted document
// must not refer to an unencrypted address.
func Resolve(document *url.URL, text string) (*url.URL, error) {
	ref, err := url.Parse(text)
	if err != nil || text == "" {
		return nil, errors.New("it is not an address") // the parser's message would show the whole address
	}
	u := document.ResolveReference(ref)
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("its scheme is %q; https is needed", u.Scheme)
	case document.Scheme == "https" && u.Scheme != "https":
		return nil, fmt.Errorf("%s is not encrypted", Show(u))
	}
	return u, nil
}
