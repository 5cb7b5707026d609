package fetch

import (
	"cmp"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-getter/v2"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/aws"
)

// abbreviations expand addresses without a scheme. The first that knows the form of an address decides.
var abbreviations = []getter.Detector{
	new(getter.GitHubDetector), new(getter.GitDetector), detector(bitbucket), detector(googleStorage), detector(amazonS3), detector(absolute),
}

// expand returns the full form of an address, which is the address itself if it has a scheme.
//
//	github.com/a/b//sub?ref=v1  →  git::https://github.com/a/b.git//sub?ref=v1
func expand(text string) (string, error) {
	way, rest := "", text
	if m := forced().FindStringSubmatch(text); m != nil {
		way, rest = m[1], m[2]
	}
	pkg, subdir := getter.SourceDirSubdir(rest)
	if u, err := url.Parse(pkg); err == nil && u.Scheme != "" {
		return text, nil
	}
	base, query, has := strings.Cut(pkg, "?")
	for _, a := range abbreviations {
		full, ok, err := a.Detect(base, "")
		switch {
		case err != nil:
			return "", err
		case !ok:
			continue
		}
		if m := forced().FindStringSubmatch(full); m != nil {
			full = m[2]
			way = cmp.Or(way, m[1])
		}
		pkg, within := getter.SourceDirSubdir(full)
		if has {
			pkg += "?" + query
		}
		full = Source{Package: pkg, Subdir: path.Join(within, filepath.ToSlash(subdir))}.String()
		if way != "" {
			full = way + "::" + full
		}
		return full, nil
	}
	return "", ErrUnknown
}

// detector expands an abbreviated address without parameters, or reports that it has another form.
type detector func(address string) (full string, ok bool, err error)

// Detect implements getter.Detector.
func (d detector) Detect(address, _ string) (string, bool, error) { return d(address) }

// bitbucket expands bitbucket.org/NAME/REPOSITORY. All repositories there use git, so the service need not
// be asked.
func bitbucket(address string) (string, bool, error) {
	if !strings.HasPrefix(address, "bitbucket.org/") {
		return "", false, nil
	}
	words := strings.Split(address, "/")
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
	return out, true, nil
}

// googleStorage expands www.googleapis.com/storage/v1/BUCKET/PATH.
func googleStorage(address string) (string, bool, error) {
	host, _, _ := strings.Cut(address, "/")
	if !strings.HasSuffix(host, ".googleapis.com") {
		return "", false, nil
	}
	u, err := url.Parse("https://" + address)
	if err != nil || objectOfGoogle(u).bucket == "" {
		return "", true, errGoogleForm
	}
	u.Host = "www.googleapis.com"
	return "gcs::" + u.String(), true, nil
}

// amazonS3 expands BUCKET.s3.amazonaws.com/PATH and the other forms of addresses of S3: the bucket's name
// moves from the host to the path.
func amazonS3(address string) (string, bool, error) {
	host, _, _ := strings.Cut(address, "/")
	if aws.Suffix(host) == "" {
		return "", false, nil
	}
	u, err := url.Parse("https://" + address)
	if err != nil {
		return "", true, errAmazonForm
	}
	o := objectOfAmazon(u)
	if o.bucket == "" {
		return "", true, errAmazonForm
	}
	if server, ok := strings.CutPrefix(u.Host, o.bucket+"."); ok {
		u.Host, u.Path, u.RawPath = server, "/"+o.bucket+u.Path, ""
	}
	return "s3::" + u.String(), true, nil
}

// absolute accepts absolute paths.
func absolute(address string) (string, bool, error) {
	if !filepath.IsAbs(address) {
		return "", false, nil
	}
	p := filepath.ToSlash(address)
	if !strings.HasPrefix(p, "/") { // a drive
		p = "/" + p
	}
	return "file://" + p, true, nil
}
