package fetch

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bgentry/go-netrc/netrc"
)

const (
	// maxHops is how often a web server may refer to another address.
	maxHops = 10
	// maxPage is how far a page is read for the element that names an address.
	maxPage = 1 << 20
)

var errNoAddress = errors.New("the server sends neither an archive nor the address of one (a header X-Terraform-Get or a meta element terraform-get). " +
	"If it is an archive, add its format to the address, such as \"?archive=zip\"")

// page asks a web server where a package is, and downloads it from there.
func (r *run) page(ctx context.Context, u *url.URL, dir string) error {
	if r.hops++; r.hops > maxHops {
		return errors.New("the server redirects from one address to the next without end")
	}
	q := u.Query()
	q.Add("terraform-get", "1")
	asked := *u
	asked.RawQuery = q.Encode()
	resp, err := r.request(ctx, &asked)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	address := resp.Header.Get("X-Terraform-Get")
	if address == "" {
		if address, err = meta(io.LimitReader(resp.Body, maxPage)); err != nil {
			return err
		}
	}
	return r.follow(ctx, address, dir)
}

// follow downloads a package from an address that a server has named.
func (r *run) follow(ctx context.Context, address, dir string) error {
	src, err := Parse(address)
	if err != nil {
		return fmt.Errorf("the server names an address that can't be downloaded from: %w", err)
	}
	scheme, u, err := split(src.Package)
	if err != nil {
		return err
	}
	if !slices.Contains(remote, scheme) {
		return fmt.Errorf("the server names an address that can't be downloaded from: its scheme is %q", scheme)
	}
	if src.Subdir == "" {
		return r.get(ctx, scheme, u, dir, true)
	}
	temp, err := os.MkdirTemp("", "mayfly-module-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	whole := filepath.Join(temp, "package")
	if err := r.get(ctx, scheme, u, whole, true); err != nil {
		return err
	}
	if err := check(whole); err != nil {
		return err
	}
	dirs, err := Dirs(whole, src.Subdir)
	if err != nil || len(dirs) != 1 {
		return errors.Join(fmt.Errorf("the server names the directory %q of a package, and %d match", src.Subdir, len(dirs)), err)
	}
	return CopyInto(filepath.Join(whole, filepath.FromSlash(dirs[0])), dir)
}

// meta returns the content of the element meta with the name terraform-get in the head of a page.
func meta(body io.Reader) (string, error) {
	d := xml.NewDecoder(body)
	d.Strict = false
	d.AutoClose, d.Entity = xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		if err != nil {
			return "", errNoAddress // the rest is not a page, or there is nothing left
		}
		e, ok := token.(xml.StartElement)
		switch {
		case !ok:
			continue
		case strings.EqualFold(e.Name.Local, "body"):
			return "", errNoAddress
		case !strings.EqualFold(e.Name.Local, "meta") || attribute(e, "name") != "terraform-get":
			continue
		}
		if address := attribute(e, "content"); address != "" {
			return address, nil
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if strings.EqualFold(a.Name.Local, name) {
			return a.Value
		}
	}
	return ""
}

// withLogin returns an address with the user and the password for its server in the user's netrc, if there
// are any. Without encryption, they would be visible on the network.
func withLogin(u *url.URL) (*url.URL, error) {
	if u.Scheme != "https" || u.User.Username() != "" {
		return u, nil
	}
	file := os.Getenv("NETRC")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return u, nil
		}
		name := ".netrc"
		if runtime.GOOS == "windows" {
			name = "_netrc"
		}
		file = filepath.Join(home, name)
	}
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return u, nil
	}
	logins, err := netrc.ParseFile(file)
	if err != nil {
		return nil, errors.New("the user's netrc file is malformed") // the parser's message may show a password
	}
	m := logins.FindMachine(u.Host)
	if m == nil {
		return u, nil
	}
	out := *u
	out.User = url.UserPassword(m.Login, m.Password)
	return &out, nil
}
