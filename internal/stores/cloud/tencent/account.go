// Package tencent reaches services of Tencent Cloud: objects in buckets of COS, tags, and temporary keys of
// roles.
//
// Start reading at Account. It may import package cloud. It must not know what is kept there.
package tencent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// Keys are credentials.
type Keys struct {
	ID, Secret string
	Token      string // of temporary ones; "" for none
}

// Role is a role to assume.
type Role struct {
	ARN, Session, Policy string
	Seconds              int // 0 for the service's default
}

// Account has credentials. It is safe for concurrent use.
type Account struct {
	client *http.Client
	region string
	keys   Keys  // of the user
	role   *Role // to assume with them; nil for none

	mu      sync.Mutex
	assumed Keys
	until   time.Time // when they expire
}

// New returns an account. If role is not nil, it assumes the role.
func New(ctx context.Context, keys Keys, region string, role *Role, client *http.Client) (*Account, error) {
	a := &Account{client: client, region: region, keys: keys, role: role}
	_, err := a.current(ctx)
	return a, err
}

// renewal is how long before their end keys are renewed.
const renewal = 5 * time.Minute

// current returns the keys for a request: those of the account, or those of its role, which is assumed
// anew shortly before they expire. Requests that come meanwhile wait.
func (a *Account) current(ctx context.Context) (Keys, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.role == nil {
		return a.keys, nil
	}
	if a.assumed.ID != "" && time.Until(a.until) > renewal {
		return a.assumed, nil
	}
	in := map[string]any{"RoleArn": a.role.ARN, "RoleSessionName": a.role.Session}
	if a.role.Seconds > 0 {
		in["DurationSeconds"] = a.role.Seconds
	}
	if a.role.Policy != "" {
		in["Policy"] = url.QueryEscape(a.role.Policy)
	}
	var out struct {
		Credentials struct{ Token, TmpSecretId, TmpSecretKey string } //nolint:revive // the service's names
		ExpiredTime int64
	}
	if err := a.act(ctx, a.keys, service{"sts", "2018-08-13"}, "AssumeRole", in, &out); err != nil {
		return Keys{}, fmt.Errorf("assuming the role: %w", err)
	}
	if out.Credentials.TmpSecretId == "" {
		return Keys{}, errors.New("assuming the role: the service's answer has no keys")
	}
	a.assumed = Keys{out.Credentials.TmpSecretId, out.Credentials.TmpSecretKey, out.Credentials.Token}
	a.until = time.Unix(out.ExpiredTime, 0)
	return a.assumed, nil
}

// service is a service by its name and the version of its operations.
type service struct{ name, version string }

// act calls an operation of a service, signed with keys.
func (a *Account) act(ctx context.Context, keys Keys, s service, action string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	host := s.name + ".tencentcloudapi.com"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	for name, value := range map[string]string{
		"Content-Type": contentType, "X-Tc-Action": action, "X-Tc-Version": s.version, "X-Tc-Region": a.region, "X-Tc-Timestamp": fmt.Sprint(now.Unix()),
		"Authorization": authorization(keys, s.name, host, body, now),
	} {
		req.Header.Set(name, value)
	}
	if keys.Token != "" {
		req.Header.Set("X-Tc-Token", keys.Token)
	}
	answer, err := cloud.Answer(a.client, req, refusal)
	if err != nil {
		return err
	}
	return decode(answer, out)
}

// decode reads an answer, or returns the error that it has.
func decode(answer []byte, out any) error {
	var said struct {
		Response json.RawMessage
	}
	var failed struct {
		Error *struct{ Code, Message string }
	}
	if json.Unmarshal(answer, &said) != nil || json.Unmarshal(said.Response, &failed) != nil {
		return errors.New("the service's answer is not valid") // it may have keys
	}
	if failed.Error != nil {
		return &cloud.Error{Status: http.StatusOK, Code: failed.Error.Code, Message: failed.Error.Message}
	}
	if out == nil {
		return nil
	}
	if json.Unmarshal(said.Response, out) != nil {
		return errors.New("the service's answer is not valid")
	}
	return nil
}

const contentType = "application/json"

// authorization returns the signature of a request by the scheme TC3.
func authorization(keys Keys, service, host string, body []byte, now time.Time) string {
	const algorithm, signedHeaders = "TC3-HMAC-SHA256", "content-type;host"
	request := strings.Join([]string{http.MethodPost, "/", "", "content-type:" + contentType, "host:" + host, "", signedHeaders, digest(body)}, "\n")
	date := now.Format(time.DateOnly)
	scope := date + "/" + service + "/tc3_request"
	text := strings.Join([]string{algorithm, fmt.Sprint(now.Unix()), scope, digest([]byte(request))}, "\n")
	key := []byte("TC3" + keys.Secret)
	for _, part := range []string{date, service, "tc3_request"} {
		key = mac(key, part)
	}
	return fmt.Sprintf("%s Credential=%s/%s, SignedHeaders=%s, Signature=%s", algorithm, keys.ID, scope, signedHeaders, hex.EncodeToString(mac(key, text)))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Client returns a client for requests to the services, which follows no redirects.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: requests.Noted(transport), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
