package azure

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// signature returns the signature of a request by the scheme "Shared Key".
func signature(account string, key []byte, req *http.Request) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed(account, req)))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signed returns the text of a request that is signed: its method, some headers by position, all headers of
// Azure by name, and what it is for.
func signed(account string, req *http.Request) string {
	lines := []string{req.Method}
	for _, name := range []string{
		"Content-Encoding", "Content-Language", "Content-Length", "Content-MD5", "Content-Type", "Date",
		"If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range",
	} {
		value := req.Header.Get(name)
		if name == "Content-Length" && req.ContentLength > 0 {
			value = strconv.FormatInt(req.ContentLength, 10)
		}
		lines = append(lines, value)
	}
	var own []string
	for name, values := range req.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-ms-") {
			own = append(own, name+":"+strings.Join(values, ","))
		}
	}
	slices.SortFunc(own, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, ":")
		nameB, _, _ := strings.Cut(b, ":")
		return strings.Compare(nameA, nameB)
	})
	lines = append(lines, own...)
	lines = append(lines, "/"+account+req.URL.EscapedPath())
	query := req.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := slices.Sorted(slices.Values(query[name]))
		lines = append(lines, fmt.Sprintf("%s:%s", strings.ToLower(name), strings.Join(values, ",")))
	}
	return strings.Join(lines, "\n")
}
