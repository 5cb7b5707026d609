package tencent

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/testing/tencentserver"
)

// to sends requests for any server to one.
type to struct{ server *httptest.Server }

func (t to) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(t.server.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// TestSignatures signs requests as Tencent's own clients have signed them.
func TestSignatures(t *testing.T) {
	keys, now := cloud.Keys{ID: "id", Secret: "secret", Token: "tok"}, time.Unix(1795405289, 0).UTC()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://bucket-1250000000.cos.ap-guangzhou.myqcloud.com/?prefix=p+q%2F%C3%A9", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(headerToken, keys.Token)
	const want = "q-sign-algorithm=sha1&q-ak=id&q-sign-time=1795405289;1795408889&q-key-time=1795405289;1795408889" +
		"&q-header-list=host;x-cos-security-token&q-url-param-list=prefix&q-signature=2131e5a157fed3132c952d22f81a0fcdf66cf0d3"
	if got := sign(keys, req, now); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	body := `{"TagKey":"tencentcloud-terraform-lock","TagValue":"ae8091143b99a7d3fedd986babcb10d1"}`
	const signed = "TC3-HMAC-SHA256 Credential=id/2026-11-23/tag/tc3_request, SignedHeaders=content-type;host, Signature=59c9c4a9c2dac0f65625e3d7a3bb305723d6401a7070ce681ba0766433d31aae"
	if got := authorization(keys, "tag", "tag.tencentcloudapi.com", []byte(body), now); got != signed {
		t.Errorf("%s\nwant %s", got, signed)
	}
}

// TestRole assumes a role once, and uses its keys.
func TestRole(t *testing.T) {
	s := tencentserver.Start(t)
	a, err := New(t.Context(), cloud.Keys{ID: "id", Secret: "key"}, "ap-guangzhou", &Role{ARN: "r", Session: "s", Seconds: 900, Policy: "{}"}, cloud.Client(to{s.Server}))
	if err != nil {
		t.Fatal(err)
	}
	b := a.Bucket("https://" + tencentserver.Bucket + ".cos.ap-guangzhou.myqcloud.com")
	for range 2 {
		if _, err := b.Put(t.Context(), "a b", []byte("x"), nil); err != nil {
			t.Error(err)
		}
	}
	last := s.Seen[len(s.Seen)-1]
	if len(s.Seen) != 3 || !strings.Contains(last.Header.Get("Authorization"), "q-ak=temporary&") || last.Header.Get(headerToken) != "hunter2" {
		t.Errorf("got %d requests, the last with %v, want 3, the last with the temporary credentials", len(s.Seen), last.Header)
	}
}

// TestAnswers has nothing of answers that may have keys in errors.
func TestAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`canary`:                 "not valid",
		`{"Response": "canary"}`: "not valid",
		`{"Response": {"Credentials": {"TmpSecretKey": "canary"}}}`:        "no keys",
		`{"Response": {"Error": {"Code": "A.B", "Message": "In words."}}}`: "A.B: In words.",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		_, err := New(t.Context(), cloud.Keys{ID: "id", Secret: "key"}, "r", &Role{ARN: "r", Session: "s"}, cloud.Client(to{server}))
		server.Close()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
