package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// world answers requests without any network.
type world func(*http.Request) (*http.Response, error)

func (w world) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func answer(r *http.Request, code int, body string, header ...string) *http.Response {
	rec := httptest.NewRecorder()
	for i := 0; i < len(header); i += 2 {
		rec.Header().Set(header[i], header[i+1])
	}
	rec.WriteHeader(code)
	_, _ = rec.WriteString(body)
	resp := rec.Result()
	resp.Request, resp.ContentLength = r, int64(len(body))
	return resp
}

func address(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// bearer is a token.
type bearer string

func (b bearer) PrepareRequest(r *http.Request) { r.Header.Set("Authorization", "Bearer "+string(b)) }

func TestRedirects(t *testing.T) {
	for name, tc := range map[string]struct {
		hops []string // each redirects to the next
		sees []bool   // which of them get the token
		want string   // a part of the error
	}{
		"same server":    {hops: []string{"https://a.example.com/1", "https://a.example.com/2"}, sees: []bool{true, true}},
		"other server":   {hops: []string{"https://a.example.com/1", "https://b.example.com/"}, sees: []bool{true, false}},
		"subdomain":      {hops: []string{"https://example.com/1", "https://evil.example.com/"}, sees: []bool{true, false}},
		"other port":     {hops: []string{"https://example.com/1", "https://example.com:8443/"}, sees: []bool{true, false}},
		"there and back": {hops: []string{"https://example.com/1", "https://b.example.com/", "https://example.com/2"}, sees: []bool{true, false, false}},
		"not encrypted":  {hops: []string{"https://example.com/1", "http://example.com/2"}, sees: []bool{true}, want: "not encrypted"},
		"for ever":       {hops: []string{"https://example.com/", "https://example.com/"}, sees: nil, want: "more than 10 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			var sees []bool
			client := New(Options{Transport: world(func(r *http.Request) (*http.Response, error) {
				sees = append(sees, r.Header.Get("Authorization") == "Bearer secret")
				if r.Referer() != "" {
					t.Errorf("referrer: got %s, want none", r.Referer())
				}
				if n := len(sees); n < len(tc.hops) {
					return answer(r, http.StatusFound, "", "Location", tc.hops[n]+"?key=s3cr3t"), nil
				}
				if strings.HasPrefix(name, "for ever") {
					return answer(r, http.StatusFound, "", "Location", tc.hops[0]+"?key=s3cr3t"), nil
				}
				return answer(r, http.StatusOK, "ok"), nil
			})})
			doc, err := client.Get(context.Background(), address(t, tc.hops[0]+"?key=s3cr3t"), bearer("secret"))
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("error %v", err)
				}
			} else if err != nil || string(doc.Body) != "ok" {
				t.Errorf("got %q, %v, want \"ok\"", doc.Body, err)
			}
			for i, want := range tc.sees {
				if i >= len(sees) || sees[i] != want {
					t.Errorf("the token was seen by %v, want %v", sees, tc.sees)
					break
				}
			}
		})
	}
}

func TestSameOrigin(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"https://a.example.com/1", "https://A.example.com:443/2", true},
		{"https://u:p@example.com/", "https://example.com/", true},
		{"https://example.com/", "http://example.com/", false},
		{"https://example.com/", "https://example.com:80/", false},
		{"https://example.com/", "https://example.com./", false},
		{"https://example.com/", "https://x.example.com/", false},
	} {
		if got := SameOrigin(address(t, tc.a), address(t, tc.b)); got != tc.want {
			t.Errorf("%s, %s: got %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestRedirectedLogin(t *testing.T) {
	client := New(Options{Transport: world(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "a.example.com" {
			t.Errorf("%s gets the password, want %s", r.URL.Host, "a.example.com")
		}
		return answer(r, http.StatusTemporaryRedirect, "", "Location", "https://b.example.com/"), nil
	})})
	resp, err := client.Documents().Post("https://a.example.com/login", "text/plain", strings.NewReader("password"))
	if err == nil {
		_ = resp.Body.Close()
		t.Error("the redirect was followed")
	}
}

func TestCredentialsNeedEncryption(t *testing.T) {
	client := New(Options{Transport: world(func(r *http.Request) (*http.Response, error) { return answer(r, http.StatusOK, "ok"), nil })})
	for text, want := range map[string]bool{
		"https://example.com/": true, "http://example.com/": false, "http://127.0.0.1:1/": true, "http://localhost/": true, "http://[::1]/": true,
	} {
		if _, err := client.Get(context.Background(), address(t, text), bearer("secret")); (err == nil) != want {
			t.Errorf("%s: got %v, want success %t", text, err, want)
		}
	}
	if _, err := client.Get(context.Background(), address(t, "http://u:p@example.com/"), nil); err == nil || strings.Contains(err.Error(), "u:p") {
		t.Errorf("a password in the address: %v", err)
	}
	if _, err := client.Get(context.Background(), address(t, "http://example.com/"), nil); err != nil {
		t.Errorf("nothing to hide: %v", err)
	}
}

func TestErrorsHideAddresses(t *testing.T) {
	client := New(Options{Transport: world(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/broken" {
			return nil, errors.New("broken")
		}
		return answer(r, http.StatusForbidden, "body"), nil
	})})
	for _, path := range []string{"/broken", "/denied"} {
		_, err := client.Get(context.Background(), address(t, "https://u:pa55@example.com"+path+"?key=s3cr3t#frag"), nil)
		if err == nil || !strings.Contains(err.Error(), "https://example.com"+path) || strings.Contains(err.Error(), "pa55") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%v", err)
		}
	}
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			codes     []int
			want, end int
		}{
			{[]int{500, 200}, 2, 200}, {[]int{429, 503, 200}, 3, 200}, {[]int{500, 500, 500, 200}, 3, 500}, {[]int{404, 200}, 1, 404}, {[]int{401, 200}, 1, 401},
		} {
			asked := 0
			client := New(Options{Retries: 2, Transport: world(func(r *http.Request) (*http.Response, error) {
				asked++
				return answer(r, tc.codes[asked-1], ""), nil
			})})
			_, err := client.Get(context.Background(), address(t, "https://example.com/"), nil)
			code := 200
			if status := (*StatusError)(nil); errors.As(err, &status) {
				code = status.Code
			}
			if asked != tc.want || code != tc.end {
				t.Errorf("%v: got %d requests, %v, want %d, and the status %d", tc.codes, asked, err, tc.want, tc.end)
			}
		}
	})
}

func TestDocumentsAreBounded(t *testing.T) {
	client := New(Options{Transport: world(func(r *http.Request) (*http.Response, error) {
		resp := answer(r, http.StatusOK, "")
		resp.Body, resp.ContentLength = io.NopCloser(zeros{}), -1
		return resp, nil
	})})
	if _, err := client.Get(context.Background(), address(t, "https://example.com/"), nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}

// zeros is an answer without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// stuck is an answer that doesn't come.
type stuck struct{ ctx context.Context }

func (s stuck) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, context.Cause(s.ctx)
}

func TestDownload(t *testing.T) {
	sum := sha256.Sum256([]byte("good"))
	for name, tc := range map[string]struct {
		bad  func(r *http.Request) (*http.Response, error)
		fail int // how often it goes badly
		want string
	}{
		"good":              {nil, 0, ""},
		"stalled once":      {stalled, 1, ""},
		"stalled":           {stalled, 9, "has stalled for 1m0s, giving up after 3 attempt(s)"},
		"too short, twice":  {short, 2, ""},
		"too short":         {short, 9, "unexpected EOF, giving up after 3 attempt(s)"},
		"too long":          {long, 9, "at most"},
		"refused, then not": {refused, 2, ""},
		"busy":              {busy, 9, "answers 503 Service Unavailable, giving up after 3 attempt(s)"},
		"refused":           {refused, 9, "refused, giving up after 3 attempt(s)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				client := New(Options{DownloadRetries: 2, Transport: world(func(r *http.Request) (*http.Response, error) {
					if asked++; asked <= tc.fail {
						return tc.bad(r)
					}
					return answer(r, http.StatusOK, "good"), nil
				})})
				file, err := os.Create(filepath.Join(t.TempDir(), "x"))
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				got, err := client.Download(context.Background(), address(t, "https://example.com/x?key=s3cr3t"), nil, file, nil)
				if tc.want != "" {
					if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cr3t") {
						t.Errorf("%v", err)
					}
					return
				}
				text, readErr := os.ReadFile(file.Name())
				if err != nil || readErr != nil || got != hex.EncodeToString(sum[:]) || string(text) != "good" {
					t.Errorf("got %s %q, %v %v, want \"good\" and its checksum %x", got, text, err, readErr, sum)
				}
			})
		})
	}
}

func stalled(r *http.Request) (*http.Response, error) {
	resp := answer(r, http.StatusOK, "")
	resp.Body, resp.ContentLength = io.NopCloser(stuck{r.Context()}), 4
	return resp, nil
}

func short(r *http.Request) (*http.Response, error) {
	resp := answer(r, http.StatusOK, "go")
	resp.ContentLength = 4
	return resp, nil
}

func long(r *http.Request) (*http.Response, error) {
	resp := answer(r, http.StatusOK, "go")
	resp.ContentLength = 1 << 40
	return resp, nil
}

func busy(r *http.Request) (*http.Response, error) {
	return answer(r, http.StatusServiceUnavailable, ""), nil
}

func refused(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

// TestAttemptsAreTold lets every kind of request fail: the number of attempts is reported if more attempts
// could have helped.
func TestAttemptsAreTold(t *testing.T) {
	kinds := map[string]func(c *Client, u *url.URL) error{
		"document": func(c *Client, u *url.URL) error { _, err := c.Get(context.Background(), u, nil); return err },
		"stream": func(c *Client, u *url.URL) error {
			resp, err := c.Downloads().Get(u.String())
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		},
	}
	missing := func(r *http.Request) (*http.Response, error) { return answer(r, http.StatusNotFound, ""), nil }
	for name, ask := range kinds {
		for _, tc := range []struct {
			bad  func(r *http.Request) (*http.Response, error)
			told bool
		}{{busy, true}, {refused, true}, {missing, false}} {
			synctest.Test(t, func(t *testing.T) {
				err := ask(New(Options{Retries: 2, DownloadRetries: 2, Transport: world(tc.bad)}), address(t, "https://example.com/x"))
				if err == nil || strings.Contains(err.Error(), "giving up after 3 attempt(s)") != tc.told {
					t.Errorf("%s: got %v, want an error that tells the number of attempts: %t", name, err, tc.told)
				}
			})
		}
	}
}

func TestDownloadIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		client := New(Options{DownloadRetries: 9, Transport: world(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			return stalled(r)
		})})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		file, err := os.Create(filepath.Join(t.TempDir(), "x"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := client.Download(ctx, address(t, "https://example.com/"), nil, file, nil); !errors.Is(err, context.DeadlineExceeded) || asked.Load() != 1 {
			t.Errorf("got %d requests, %v, want one, and %v", asked.Load(), err, context.DeadlineExceeded)
		}
	})
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct{ base, text, want string }{
		{"https://example.com/a/b.json", "c.zip", "https://example.com/a/c.zip"},
		{"https://example.com/a/b.json", "/c.zip", "https://example.com/c.zip"},
		{"https://example.com/a", "https://x.example.com/c.zip?k=1", "https://x.example.com/c.zip?k=1"},
		{"http://localhost/a", "c.zip", "http://localhost/c.zip"},
		{"https://example.com/a", "http://example.com/c.zip", ""},
		{"https://example.com/a", "file:///etc/passwd", ""},
		{"https://example.com/a", "", ""},
		{"https://example.com/a", "://", ""},
		{"https://example.com/a", "https:///x", ""},
	} {
		u, err := Resolve(address(t, tc.base), tc.text)
		if (err == nil) != (tc.want != "") || err == nil && u.String() != tc.want {
			t.Errorf("%s from %s: got %v, %v, want %q (an error if empty)", tc.text, tc.base, u, err, tc.want)
		}
	}
}
