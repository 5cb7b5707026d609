package tencent

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // the checksum that other engines store
	"crypto/sha1" //nolint:gosec // what the service defines
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

const (
	headerToken = "X-Cos-Security-Token"
	headerMD5   = "X-Cos-Meta-Md5"
)

// Bucket returns a bucket of COS by its address, such as https://NAME.cos.REGION.myqcloud.com. Its objects
// have a checksum, which other engines want.
func (a *Account) Bucket(address string) *cloud.Bucket {
	return &cloud.Bucket{
		Client: a.client, Base: strings.TrimSuffix(address, "/"), Refuse: refusal,
		Sign: func(req *http.Request, _ string, _ []byte) error {
			keys, err := a.current(req.Context())
			if err != nil {
				return err
			}
			if keys.Token != "" {
				req.Header.Set(headerToken, keys.Token)
			}
			req.Header.Set("Authorization", sign(keys, req, time.Now()))
			return nil
		},
		Describe: func(content []byte) http.Header {
			return http.Header{"Content-Type": {contentType}, headerMD5: {checksum(content)}}
		},
		Check: func(header http.Header, content []byte) error {
			if want := header.Get(headerMD5); want != "" && want != checksum(content) {
				return cloud.DamagedError("is stored with it")
			}
			return nil
		},
	}
}

func checksum(content []byte) string {
	sum := md5.Sum(content) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// signatureLife is how long the signature of a request is valid.
const signatureLife = time.Hour

// sign returns the signature of a request: of its method, its path, its query, its host and the headers of
// the service.
func sign(keys cloud.Keys, req *http.Request, now time.Time) string {
	life := fmt.Sprintf("%d;%d", now.Unix(), now.Add(signatureLife).Unix())
	headers := map[string]string{"host": req.URL.Host}
	for name := range req.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-cos-") {
			headers[lower] = req.Header.Get(name)
		}
	}
	query := map[string]string{}
	for name, values := range req.URL.Query() {
		query[strings.ToLower(name)] = values[0]
	}
	headerNames, headerText := listed(headers)
	queryNames, queryText := listed(query)
	request := strings.Join([]string{strings.ToLower(req.Method), req.URL.Path, queryText, headerText, ""}, "\n")
	sum := sha1.Sum([]byte(request)) //nolint:gosec // see above
	text := strings.Join([]string{"sha1", life, hex.EncodeToString(sum[:]), ""}, "\n")
	signature := mac1([]byte(mac1([]byte(keys.Secret), life)), text)
	return strings.Join([]string{
		"q-sign-algorithm=sha1", "q-ak=" + keys.ID, "q-sign-time=" + life, "q-key-time=" + life,
		"q-header-list=" + headerNames, "q-url-param-list=" + queryNames, "q-signature=" + signature,
	}, "&")
}

// listed returns the names of values, and names with values, in the form that is signed.
func listed(values map[string]string) (names, text string) {
	encode := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	var pairs, keys []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := strings.ToLower(encode(name))
		keys = append(keys, key)
		pairs = append(pairs, key+"="+encode(values[name]))
	}
	return strings.Join(keys, ";"), strings.Join(pairs, "&")
}

func mac1(key []byte, text string) string {
	h := hmac.New(sha1.New, key)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// refusal returns the error that an answer describes.
func refusal(resp *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(body, &said) // else there is the status
	return &cloud.Error{Status: resp.StatusCode, Code: said.Code, Message: said.Message, Hint: cloud.PageHint(body)}
}
