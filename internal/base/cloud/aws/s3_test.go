package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

const secret = "Hunter2Hunter2"

// isolate keeps the user's settings out.
func isolate(t *testing.T) {
	for _, name := range []string{
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_METADATA_URL", "AWS_USE_FIPS_ENDPOINT",
		"AWS_USE_DUALSTACK_ENDPOINT", "AWS_CA_BUNDLE", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_SESSION_TOKEN", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_WEB_IDENTITY_TOKEN_FILE",
	} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
}

// once is a cloud.Services without retries.
func once(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// signature computes the signature that a request should have, from the definition of version 4.
func signature(r *http.Request, region, service string) string {
	auth := r.Header.Get("Authorization")
	_, after, _ := strings.Cut(auth, "SignedHeaders=")
	signed, _, _ := strings.Cut(after, ",")
	var headers strings.Builder
	for name := range strings.SplitSeq(signed, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	query := strings.Split(r.URL.RawQuery, "&")
	slices.Sort(query)
	path, _, _ := strings.Cut(r.RequestURI, "?")
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	canonical := strings.Join([]string{r.Method, path, strings.Join(query, "&"), headers.String(), signed, r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	stamp := r.Header.Get("X-Amz-Date")
	scope := stamp[:8] + "/" + region + "/" + service + "/aws4_request"
	key := []byte("AWS4" + secret)
	for _, part := range append(strings.Split(scope, "/"), "AWS4-HMAC-SHA256\n"+stamp+"\n"+scope+"\n"+hash(canonical)) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func TestRequestsAreSigned(t *testing.T) {
	isolate(t)
	t.Setenv("AWS_SESSION_TOKEN", "SessionToken1")
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.RequestURI)
		if want := signature(r, "eu-west-1", "s3"); !strings.HasSuffix(r.Header.Get("Authorization"), "Signature="+want) {
			t.Errorf("%s has %s, want %s", r.URL, r.Header.Get("Authorization"), want)
		}
		if got := r.Header.Get("X-Amz-Security-Token"); got != "SessionToken1" {
			t.Errorf("%s: got the session token %q, want SessionToken1", r.URL, got)
		}
		switch {
		case r.URL.Query().Get("continuation-token") == "to ken+/=":
			fmt.Fprint(w, `<ListBucketResult><Contents><Key>b</Key></Contents></ListBucketResult>`)
		case r.URL.Query().Has("list-type"):
			fmt.Fprint(w, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>to ken+/=</NextContinuationToken><Contents><Key>a</Key></Contents></ListBucketResult>`)
		default:
			fmt.Fprint(w, "content")
		}
	}))
	defer server.Close()
	a, err := Load(t.Context(), Settings{Region: "eu-west-1"}, once)
	if err != nil {
		t.Fatal(err)
	}
	b := a.BucketAt("bucket", server.URL)
	var names []string
	for name, err := range b.List(t.Context(), "dir with spaces/ä") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("bucket: got %q, want a and b", names)
	}
	body, size, err := b.Open(t.Context(), "dir/a b+c=d(ä)~*.zip", "v 1")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if content, err := io.ReadAll(body); string(content) != "content" || size != 7 || err != nil {
		t.Errorf("got %q of %d bytes, %v, want \"content\" of 7", content, size, err)
	}
	if want := "/bucket/dir/a%20b%2Bc%3Dd%28%C3%A4%29~%2A.zip?versionId=v%201"; seen[len(seen)-1] != want {
		t.Errorf("the request was for %s, want %s", seen[len(seen)-1], want)
	}
}

func TestRefusals(t *testing.T) {
	isolate(t)
	var status int
	var code, region string
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Bucket-Region", region)
		w.Header().Set("Location", other.URL)
		w.WriteHeader(status)
		fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>in words</Message><StringToSign>%s</StringToSign></Error>`, code, secret)
	}))
	defer server.Close()
	a, err := Load(t.Context(), Settings{}, once)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status       int
		code, region string
		want         string
	}{
		{http.StatusForbidden, "AccessDenied", "", "403 Forbidden: AccessDenied: in words"},
		{http.StatusNotFound, "NoSuchKey", "", "NoSuchKey"},
		{http.StatusBadRequest, "ExpiredToken", "", "Renew the credentials"},
		{http.StatusMovedPermanently, "PermanentRedirect", "eu-west-1", "The bucket is in the region eu-west-1, and the request was sent to us-east-1"},
		{http.StatusTemporaryRedirect, "TemporaryRedirect", "", "TemporaryRedirect"},
	} {
		status, code, region = c.status, c.code, c.region
		_, _, err := a.BucketAt("bucket", server.URL).Open(t.Context(), "x", "")
		var refusal *cloud.Error
		if !errors.As(err, &refusal) || refusal.Status != c.status || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %s", c.code, err, c.want)
		}
	}
	if elsewhere > 0 {
		t.Error("a redirect was followed")
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct {
		name, bucket, suffix string
		env                  map[string]string
		want                 string
	}{
		{"plain", "bucket", "amazonaws.com", nil, "https://bucket.s3.eu-west-1.amazonaws.com"},
		{"dots", "my.bucket", "amazonaws.com", nil, "https://s3.eu-west-1.amazonaws.com/my.bucket"},
		{"another partition", "bucket", "amazonaws.com.cn", nil, "https://bucket.s3.eu-west-1.amazonaws.com.cn"},
		{"FIPS and IPv6", "bucket", "amazonaws.com", map[string]string{"AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "true"}, "https://bucket.s3-fips.dualstack.eu-west-1.amazonaws.com"},
		{"every service", "bucket", "amazonaws.com", map[string]string{"AWS_ENDPOINT_URL": "https://cloud.example/x/"}, "https://bucket.cloud.example/x"},
		{"this service", "bucket", "amazonaws.com", map[string]string{"AWS_ENDPOINT_URL": "https://no.example", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000"}, "http://127.0.0.1:9000/bucket"},
		{"ignored", "bucket", "amazonaws.com", map[string]string{"AWS_ENDPOINT_URL_S3": "https://no.example", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, "https://bucket.s3.eu-west-1.amazonaws.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			isolate(t)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			a, err := Load(t.Context(), Settings{Region: "eu-west-1"}, once)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := a.Bucket(t.Context(), c.bucket, c.suffix); err != nil || b.Base != c.want {
				t.Errorf("%s, %v; want %s", b.Base, err, c.want)
			}
		})
	}
}

// TestServers chooses servers by settings, which go before the environment.
func TestServers(t *testing.T) {
	isolate(t)
	t.Setenv("AWS_USE_FIPS_ENDPOINT", "false")
	a, err := Load(t.Context(), Settings{Region: "eu-west-1", TokenRegion: "eu-west-3", FIPS: true, DualStack: true}, once)
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Bucket(t.Context(), "bucket", "amazonaws.com")
	if want := "https://bucket.s3-fips.dualstack.eu-west-1.amazonaws.com"; err != nil || b.Base != want {
		t.Errorf("%s, %v; want %s", b.Base, err, want)
	}
	if a.tokens.Region != "eu-west-3" {
		t.Errorf("region in which roles are assumed: got %s, want eu-west-3", a.tokens.Region)
	}
	if _, err := Load(t.Context(), Settings{MetadataMode: "5"}, once); err == nil || !strings.Contains(err.Error(), "IPv6") {
		t.Errorf("a mode that is none: %v", err)
	}
}

// TestMetadata finds the credentials of a virtual machine where the settings say, unless they are not to be
// looked for.
func TestMetadata(t *testing.T) {
	isolate(t)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case r.Method == http.MethodPut:
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "/"):
			fmt.Fprint(w, "role")
		default:
			fmt.Fprint(w, `{"Code": "Success", "AccessKeyId": "AKIDMACHINE", "SecretAccessKey": "x", "Token": "t", "Expiration": "2100-01-01T00:00:00Z"}`)
		}
	}))
	defer server.Close()
	for off, want := range map[bool]string{false: "AKIDMACHINE", true: ""} {
		asked = 0
		a, err := Load(t.Context(), Settings{Metadata: server.URL, NoMetadata: off}, once)
		if err != nil {
			t.Fatal(err)
		}
		creds, err := a.config.Credentials.Retrieve(t.Context())
		if creds.AccessKeyID != want || (err != nil) != off || (asked == 0) != off {
			t.Errorf("off %t: got %q after %d requests, %v, want %q", off, creds.AccessKeyID, asked, err, want)
		}
	}
}

func TestCredentials(t *testing.T) {
	isolate(t)
	config := os.Getenv("AWS_CONFIG_FILE")
	filetest.Write(t, config, "[profile other]\nregion = ap-south-1\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = x\n")
	for _, c := range []struct {
		name       string
		settings   Settings
		id, region string
	}{
		{"environment", Settings{}, "AKIDENV", "us-east-1"},
		{"keys", Settings{Region: "eu-west-1", Keys: &Keys{ID: "AKIDKEYS", Secret: "x"}}, "AKIDKEYS", "eu-west-1"},
		{"profile", Settings{Profile: "other"}, "AKIDPROFILE", "ap-south-1"},
		{"profile elsewhere", Settings{Profile: "other", Region: "eu-west-1"}, "AKIDPROFILE", "eu-west-1"},
	} {
		a, err := Load(t.Context(), c.settings, once)
		if err != nil {
			t.Fatal(err)
		}
		creds, err := a.config.Credentials.Retrieve(t.Context())
		if err != nil || creds.AccessKeyID != c.id || a.config.Region != c.region {
			t.Errorf("%s: got %s in %s, %v, want %s in %s", c.name, creds.AccessKeyID, a.config.Region, err, c.id, c.region)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	a, err := Load(t.Context(), Settings{}, once)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.BucketAt("bucket", "http://127.0.0.1:1").Open(t.Context(), "x", ""); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("without credentials: %v", err)
	}
}
