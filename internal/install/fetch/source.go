package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-getter/v2"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// Source is a module's address: a package, and a directory within it.
type Source struct {
	// Package is the address of the package, in its full form.
	Package string
	// Subdir is slash separated, relative and clean; "" for the package's own directory. It may be a
	// pattern that matches one directory.
	Subdir string
}

// String returns the address of the module in its full form.
func (s Source) String() string {
	if s.Subdir == "" {
		return s.Package
	}
	base, query, has := strings.Cut(s.Package, "?")
	base += "//" + s.Subdir
	if has {
		base += "?" + query
	}
	return base
}

// ErrUnknown is returned for an address whose form is not supported.
var ErrUnknown = errors.New("nothing can be downloaded from this address")

var forced = pattern.New(`^([A-Za-z0-9]+)::(.+)$`)

// schemes are the ways to get a package. A server may name addresses of the first ones only.
var (
	schemes = append(slices.Clone(remote), "oci", "file")
	remote  = []string{"git", "http", "https", "s3", "gcs"}
)

// Parse interprets an address. Abbreviations such as github.com/NAME/REPOSITORY are expanded.
func Parse(text string) (Source, error) {
	full, err := expand(text)
	if err != nil {
		return Source{}, reworded(text, err)
	}
	pkg, subdir := getter.SourceDirSubdir(full)
	if subdir != "" {
		if subdir = path.Clean(filepath.ToSlash(subdir)); subdir == ".." || strings.HasPrefix(subdir, "../") {
			return Source{}, fmt.Errorf("its directory %q points outside of the package", subdir)
		}
		subdir = strings.TrimPrefix(strings.TrimPrefix(subdir, "."), "/")
	}
	scheme, u, err := split(pkg)
	if err != nil {
		return Source{}, err
	}
	if !slices.Contains(schemes, scheme) {
		return Source{}, fmt.Errorf("%.20q is not a supported way to download; supported are %s", scheme, strings.Join(schemes, ", "))
	}
	if scheme == "oci" && u.Host == "" {
		return Source{}, errors.New("the address of an OCI artifact has the form oci://REGISTRY/REPOSITORY?tag=TAG")
	}
	return Source{Package: pkg, Subdir: subdir}, nil
}

// split returns how to download a package, and from where.
func split(pkg string) (scheme string, u *url.URL, err error) {
	rest := pkg
	if m := forced().FindStringSubmatch(pkg); m != nil {
		scheme, rest = m[1], m[2]
	}
	u, err = url.Parse(rest)
	if err != nil {
		return "", nil, errors.New("it is not a valid address") // the parser's message would show the whole address
	}
	scheme = cmp.Or(scheme, u.Scheme)
	return scheme, u, nil
}

// reworded returns an error of the library without the address, which may contain a password.
func reworded(text string, err error) error {
	if errors.Is(err, ErrUnknown) {
		return err
	}
	return errors.New(SecretsOf(text).Hide(err.Error()))
}
