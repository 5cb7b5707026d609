// Package alibaba reaches services of Alibaba Cloud: it finds credentials in the places that Alibaba's tools
// document, keeps objects in buckets of OSS, and rows in tables of Tablestore.
//
// Start reading at Account. It may import package cloud. It must not know the content of objects.
package alibaba

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what the services define
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Account has credentials. It is safe for concurrent use.
type Account struct {
	client *http.Client
	keys   cloud.Source
}

// New returns an account with the keys of a source, which is asked again when they expire, and gets the
// first ones.
func New(ctx context.Context, source cloud.Source, client *http.Client) (*Account, error) {
	a := &Account{client: client, keys: cloud.Renewed(source)}
	_, err := a.keys(ctx)
	return a, err
}

func mac(secret, text string) string {
	h := hmac.New(sha1.New, []byte(secret))
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// metadata is the address of the service that machines get the keys of their role from.
const metadata = "http://100.100.100.200/latest/meta-data/ram/security-credentials/"

// temporary are keys as services return them.
type temporary struct {
	AccessKeyID     string `json:"AccessKeyId"`
	AccessKeySecret string
	SecurityToken   string
	Expiration      time.Time
}

func (t temporary) keys() (cloud.Keys, error) {
	if t.AccessKeyID == "" || t.AccessKeySecret == "" {
		return cloud.Keys{}, errors.New("the service's answer has no keys")
	}
	return cloud.Keys{ID: t.AccessKeyID, Secret: t.AccessKeySecret, Token: t.SecurityToken, Until: t.Expiration}, nil
}

// Machine returns a source of the keys that this machine has by a role.
func Machine(role string, client *http.Client) cloud.Source {
	return func(ctx context.Context) (cloud.Keys, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, metadata+url.PathEscape(role), nil)
		if err != nil {
			return cloud.Keys{}, err
		}
		body, err := cloud.Answer(client, req, refusal)
		if err != nil {
			return cloud.Keys{}, fmt.Errorf("the service for roles of machines: %w", err)
		}
		var t temporary
		if json.Unmarshal(body, &t) != nil {
			return cloud.Keys{}, errors.New("the answer of the service for roles of machines is not valid") // it may have keys
		}
		return t.keys()
	}
}

// Role is a role to assume.
type Role struct {
	ARN, Session, Policy string
	Seconds              int    // 0 for the service's default
	Server               string // of the service for tokens; "" for the usual one
}

// Assume returns a source of keys of a role, which the keys of another source may assume.
func Assume(r Role, by cloud.Source, client *http.Client) cloud.Source {
	return func(ctx context.Context) (cloud.Keys, error) {
		k, err := by(ctx)
		if err != nil {
			return cloud.Keys{}, err
		}
		query := url.Values{
			"Action": {"AssumeRole"}, "Version": {"2015-04-01"}, "Format": {"JSON"}, "RoleArn": {r.ARN}, "RoleSessionName": {r.Session},
			"AccessKeyId": {k.ID}, "SignatureMethod": {"HMAC-SHA1"}, "SignatureVersion": {"1.0"}, "SignatureNonce": {uuid.NewString()},
			"Timestamp": {time.Now().UTC().Format("2006-01-02T15:04:05Z")},
		}
		for name, value := range map[string]string{"Policy": r.Policy, "SecurityToken": k.Token} {
			if value != "" {
				query.Set(name, value)
			}
		}
		if r.Seconds > 0 {
			query.Set("DurationSeconds", fmt.Sprint(r.Seconds))
		}
		query.Set("Signature", mac(k.Secret+"&", "POST&%2F&"+percent(encode(query))))
		return assumed(ctx, r.Server, query, client)
	}
}

// assumed returns the keys of a role. The query is signed already. An answer that is not valid is not
// quoted, because it may have keys in it.
func assumed(ctx context.Context, server string, query url.Values, client *http.Client) (cloud.Keys, error) {
	server = cmp.Or(server, "sts.aliyuncs.com")
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, strings.NewReader(encode(query)))
	if err != nil {
		return cloud.Keys{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	body, err := cloud.Answer(client, req, refusal)
	if err != nil {
		return cloud.Keys{}, fmt.Errorf("assuming the role: %w", err)
	}
	var answer struct{ Credentials temporary }
	if json.Unmarshal(body, &answer) != nil {
		return cloud.Keys{}, errors.New("assuming the role: the service's answer is not valid") // it may have keys
	}
	return answer.Credentials.keys()
}

// percent encodes a text as the services want it.
func percent(text string) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(url.QueryEscape(text))
}

func encode(query url.Values) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(query.Encode())
}

// refusal returns the error that an answer describes, in XML or JSON.
func refusal(resp *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	if xml.Unmarshal(body, &said) != nil {
		_ = json.Unmarshal(body, &said) // else there is the status
	}
	return &cloud.Error{Status: resp.StatusCode, Code: said.Code, Message: said.Message, Hint: cloud.PageHint(body)}
}

// profile is a profile in the configuration file of Alibaba's command line tool.
type profile struct {
	Name    string
	Mode    string
	Region  string `json:"region_id"`
	ID      string `json:"access_key_id"`
	Secret  string `json:"access_key_secret"`
	Token   string `json:"sts_token"`
	Machine string `json:"ram_role_name"`
	ARN     string `json:"ram_role_arn"`
	Session string `json:"ram_session_name"`
	Seconds int    `json:"expired_seconds"`
}

// Profile returns the source of keys that a profile describes, and its region. file may be "" for the usual
// one.
func Profile(file, name string, client *http.Client) (cloud.Source, string, error) {
	home, err := os.UserHomeDir()
	switch {
	case err == nil && file == "":
		file = filepath.Join(home, ".aliyun", "config.json")
	case err == nil && strings.HasPrefix(file, "~/"):
		file = filepath.Join(home, file[2:])
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	var all struct{ Profiles []profile }
	if json.Unmarshal(b, &all) != nil {
		return nil, "", fmt.Errorf("%s is not a configuration file of the command line tool", file) // it may have keys
	}
	for _, p := range all.Profiles {
		if p.Name == name {
			s, err := p.source(client)
			return s, p.Region, err
		}
	}
	return nil, "", fmt.Errorf("%s has no profile %q", file, name)
}

func (p profile) source(client *http.Client) (cloud.Source, error) {
	switch p.Mode {
	case "EcsRamRole":
		return Machine(p.Machine, client), nil
	case "RamRoleArn":
		return Assume(Role{ARN: p.ARN, Session: p.Session, Seconds: p.Seconds}, cloud.Static(cloud.Keys{ID: p.ID, Secret: p.Secret}), client), nil
	}
	if p.ID == "" || p.Secret == "" {
		return nil, errors.New("the profile has no keys, and its mode is not AK, StsToken, RamRoleArn or EcsRamRole")
	}
	return cloud.Static(cloud.Keys{ID: p.ID, Secret: p.Secret, Token: p.Token}), nil
}
