package alibaba

import (
	"crypto/md5" //nolint:gosec // the checksum that the service defines
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Bucket returns a bucket of OSS. server is the address of the service, such as
// https://oss-cn-beijing.aliyuncs.com; the name of the bucket becomes a part of it, unless its host is an IP
// address.
func (a *Account) Bucket(server, name string) (*cloud.Bucket, error) {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	u, err := url.Parse(strings.TrimSuffix(server, "/"))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a server", server)
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		u.Path = "/" + name
	} else {
		u.Host = name + "." + u.Host
	}
	return &cloud.Bucket{
		Client: a.client, Base: u.String(), Refuse: refusal, Pages: url.Values{"max-keys": {"1000"}},
		Sign: func(req *http.Request, object string, _ []byte) error { return a.sign(req, "/"+name+"/"+object) },
		Describe: func(content []byte) http.Header {
			sum := md5.Sum(content) //nolint:gosec // see above
			return http.Header{"Content-Type": {"application/json"}, "Content-Md5": {base64.StdEncoding.EncodeToString(sum[:])}}
		},
	}, nil
}

// sign signs a request about a resource: a bucket, or an object in it.
func (a *Account) sign(req *http.Request, resource string) error {
	keys, err := a.keys(req.Context())
	if err != nil {
		return err
	}
	req.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if keys.Token != "" {
		req.Header.Set("X-Oss-Security-Token", keys.Token)
	}
	req.Header.Set("Authorization", "OSS "+keys.ID+":"+mac(keys.Secret, signed(req, resource)))
	return nil
}

// signed returns the text of a request that is signed.
func signed(req *http.Request, resource string) string {
	lines := []string{req.Method, req.Header.Get("Content-MD5"), req.Header.Get("Content-Type"), req.Header.Get("Date")}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-oss-") {
			lines = append(lines, lower+":"+strings.TrimSpace(req.Header.Get(name)))
		}
	}
	return strings.Join(append(lines, resource), "\n")
}
