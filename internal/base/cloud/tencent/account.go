// Package tencent reaches services of Tencent Cloud: objects in buckets of COS, tags, and temporary keys of
// roles.
//
// Start reading at Account. It may import package cloud. It must not know the content of objects.
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
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Role is a role to assume.
type Role struct {
	ARN, Session, Policy string
	Seconds              int // 0 for the service's default
}

// Account has credentials. It is safe for concurrent use.
type Account struct {
	client  *http.Client
	region  string
	current cloud.Source // of the keys for requests: the user's or the role's
}

// New returns an account. If role is not nil, it assumes the role, and does so again before the keys expire.
func New(ctx context.Context, keys cloud.Keys, region string, role *Role, client *http.Client) (*Account, error) {
	a := &Account{client: client, region: region, current: cloud.Static(keys)}
	if role != nil {
		a.current = cloud.Renewed(func(ctx context.Context) (cloud.Keys, error) { return a.assume(ctx, keys, role) })
	}
	_, err := a.current(ctx)
	return a, err
}

// assume returns keys of a role, which a user with the given keys may assume.
func (a *Account) assume(ctx context.Context, by cloud.Keys, role *Role) (cloud.Keys, error) {
	in := map[string]any{"RoleArn": role.ARN, "RoleSessionName": role.Session}
	if role.Seconds > 0 {
		in["DurationSeconds"] = role.Seconds
	}
	if role.Policy != "" {
		in["Policy"] = url.QueryEscape(role.Policy)
	}
	var out struct {
		Credentials struct{ Token, TmpSecretId, TmpSecretKey string } //nolint:revive // the service's names
		ExpiredTime int64
	}
	if err := a.act(ctx, by, service{"sts", "2018-08-13"}, "AssumeRole", in, &out); err != nil {
		return cloud.Keys{}, fmt.Errorf("assuming the role: %w", err)
	}
	got := out.Credentials
	if got.TmpSecretId == "" {
		return cloud.Keys{}, errors.New("assuming the role: the service's answer has no keys")
	}
	return cloud.Keys{ID: got.TmpSecretId, Secret: got.TmpSecretKey, Token: got.Token, Until: time.Unix(out.ExpiredTime, 0)}, nil
}

// service is a service by its name and the version of its operations.
type service struct{ name, version string }

// act calls an operation of a service, signed with keys.
func (a *Account) act(ctx context.Context, keys cloud.Keys, s service, action string, in, out any) error {
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
func authorization(keys cloud.Keys, service, host string, body []byte, now time.Time) string {
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

var tags = service{"tag", "2018-08-13"}

type tag struct{ TagKey, TagValue string }

// CreateTag makes a tag of the account. It fails with cloud.ErrExists if there is one like it.
func (a *Account) CreateTag(ctx context.Context, key, value string) error {
	return a.actOnTag(ctx, "CreateTag", tag{key, value}, "ResourceInUse.TagDuplicate", cloud.ErrExists)
}

// DeleteTag removes a tag of the account. One that does not exist is ignored.
func (a *Account) DeleteTag(ctx context.Context, key, value string) error {
	return a.actOnTag(ctx, "DeleteTag", tag{key, value}, "ResourceNotFound.TagNonExist", nil)
}

// actOnTag calls an operation. An answer with the code expected has the meaning of an error.
func (a *Account) actOnTag(ctx context.Context, action string, t tag, expected string, meaning error) error {
	keys, err := a.current(ctx)
	if err != nil {
		return err
	}
	err = a.act(ctx, keys, tags, action, t, nil)
	if cloud.Code(err) == expected {
		return meaning
	}
	return err
}
