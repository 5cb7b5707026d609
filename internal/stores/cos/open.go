//go:build !mayfly_no_cos

package cos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{Connect: connect, Place: func(cfg backend.Config) string {
		prefix := cfg.Text("prefix")
		if prefix != "" {
			prefix += "/"
		}
		return "cos://" + cfg.Text("bucket") + "/" + prefix + cfg.TextOr("key", objects.DefaultKey)
	}}
}

// connect opens a store in a bucket. The arguments are checked before the account is asked for anything,
// so that a mistake is reported without a request.
func connect(ctx context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	opt := Options{
		Name: cfg.Text("bucket"), Prefix: strings.TrimSuffix(cfg.Text("prefix"), "/"), Key: cfg.Text("key"),
		ACL: cfg.TextOr("acl", defaultACL), Encrypt: cfg.Flag("encrypt"),
	}
	keys := cloud.Keys{ID: cfg.Text("secret_id"), Secret: cfg.Text("secret_key"), Token: cfg.Text("security_token")}
	region := cfg.Text("region")
	switch {
	case strings.HasPrefix(opt.Prefix, "/") || strings.HasPrefix(opt.Prefix, "./"):
		return nil, errors.New("the argument \"prefix\" of the backend \"cos\" must not begin with / or ./")
	case strings.HasPrefix(opt.Key, "/") || strings.HasSuffix(opt.Key, "/"):
		return nil, errors.New("the argument \"key\" of the backend \"cos\" must not begin or end with /")
	case opt.ACL != defaultACL && opt.ACL != "public-read":
		return nil, errors.New("the argument \"acl\" of the backend \"cos\" must be private or public-read")
	case keys.ID == "" || keys.Secret == "":
		return nil, errors.New("the backend \"cos\" needs the arguments \"secret_id\" and \"secret_key\"")
	case region == "":
		return nil, errors.New("the backend \"cos\" needs the argument \"region\"")
	}
	role, err := roleOf(cfg, env)
	if err != nil {
		return nil, err
	}
	if opt.Account, err = tencent.New(ctx, keys, region, role, cloud.Client(nil)); err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"cos\": %w", err)
	}
	server := "cos." + region
	if cfg.Flag("accelerate") {
		server = "cos.accelerate"
	}
	opt.Bucket = opt.Account.Bucket("https://" + opt.Name + "." + server + ".myqcloud.com")
	return New(opt), nil
}

// roleOf returns the role to assume, from the block or the environment; nil for none.
func roleOf(cfg backend.Config, env backend.Env) (*tencent.Role, error) {
	const variable = "TENCENTCLOUD_ASSUME_ROLE_"
	if b, ok := cfg.Nested("assume_role"); ok {
		r := &tencent.Role{ARN: b.Text("role_arn"), Session: b.Text("session_name"), Policy: b.Text("policy")}
		var err error
		r.Seconds, err = b.CountOr("cos", "session_duration", 0)
		return r, err
	}
	r := &tencent.Role{ARN: env.Lookup(variable + "ARN"), Session: env.Lookup(variable + "SESSION_NAME")}
	if r.ARN == "" || r.Session == "" {
		return nil, nil
	}
	var err error
	if r.Seconds, err = strconv.Atoi(cmp.Or(env.Lookup(variable+"SESSION_DURATION"), "7200")); err != nil || r.Seconds < 0 {
		return nil, errors.New("the environment variable " + variable + "SESSION_DURATION must be a number of seconds")
	}
	return r, nil
}
