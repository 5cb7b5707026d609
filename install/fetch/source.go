// Package fetch downloads packages of modules: from git repositories, archives on web servers, buckets of
// S3 and Google Cloud Storage, registries of OCI artifacts, and directories. The form of addresses is that
// of other engines' configurations; most are handled by the library that defined this form.
//
// Start reading at Parse and Client.Fetch. It may import its siblings for requests and artifacts. It must
// not know module calls, versions or registries of modules: it takes an address and fills a directory.
package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-getter"
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

var (
	detectors = []getter.Detector{
		new(getter.GitHubDetector), new(getter.GitDetector), bitbucket{}, new(getter.GCSDetector), new(getter.S3Detector), absolute{},
	}
	forced = regexp.MustCompile(`^([A-Za-z0-9]+)::(.+)$`)
)

// schemes are the ways to get a package.
var schemes = []string{"git", "http", "https", "s3", "gcs", "oci", "file"}

// Parse interprets an address. Abbreviations such as github.com/NAME/REPOSITORY are expanded.
func Parse(text string) (Source, error) {
	full, err := getter.Detect(text, "", detectors)
	if err != nil {
		if strings.HasPrefix(err.Error(), "invalid source string") {
			err = ErrUnknown
		}
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
	if m := forced.FindStringSubmatch(pkg); m != nil {
		scheme, rest = m[1], m[2]
	}
	u, err = url.Parse(rest)
	if err != nil {
		return "", nil, errors.New("it is not a valid address") // the parser's message would show the whole address
	}
	if scheme == "" {
		scheme = u.Scheme
	}
	return scheme, u, nil
}

// reworded returns an error of the library without the address, which may contain a password.
func reworded(text string, err error) error {
	if errors.Is(err, ErrUnknown) {
		return err
	}
	return errors.New(SecretsOf(text).Hide(err.Error()))
}

// bitbucket expands bitbucket.org/NAME/REPOSITORY. All repositories there use git, so the service need not
// be asked.
type bitbucket struct{}

// Detect implements getter.Detector.
func (bitbucket) Detect(src, _ string) (string, bool, error) {
	if !strings.HasPrefix(src, "bitbucket.org/") {
		return "", false, nil
	}
	base, query, has := strings.Cut(src, "?")
	words := strings.Split(base, "/")
	if len(words) < 3 || words[1] == "" || words[2] == "" {
		return "", true, errors.New("an address at Bitbucket has the form bitbucket.org/NAME/REPOSITORY")
	}
	out := "git::https://" + strings.Join(words[:3], "/")
	if !strings.HasSuffix(out, ".git") {
		out += ".git"
	}
	if len(words) > 3 {
		out += "//" + strings.Join(words[3:], "/")
	}
	if has {
		out += "?" + query
	}
	return out, true, nil
}

// absolute accepts absolute paths.
type absolute struct{}

// Detect implements getter.Detector.
func (absolute) Detect(src, _ string) (string, bool, error) {
	if !filepath.IsAbs(src) {
		return "", false, nil
	}
	p := filepath.ToSlash(src)
	if !strings.HasPrefix(p, "/") { // a drive
		p = "/" + p
	}
	return "file://" + p, true, nil
}
