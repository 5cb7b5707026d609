//go:build !mayfly_no_cos

package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/cos"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	cosKind.service = service{open: openCOS, place: func(cfg cty.Value) string {
		prefix := textOr(cfg, "prefix", "")
		if prefix != "" {
			prefix += "/"
		}
		return "cos://" + textOr(cfg, "bucket", "") + "/" + prefix + textOr(cfg, "key", objects.DefaultKey)
	}}
}

// openCOS opens a store in a bucket. The arguments are checked before the account is asked for anything,
// so that a mistake is reported without a request.
func openCOS(ctx context.Context, cfg cty.Value, env Env) (store.Store, error) {
	opt := cos.Options{
		Name: textOr(cfg, "bucket", ""), Prefix: strings.TrimSuffix(textOr(cfg, "prefix", ""), "/"), Key: textOr(cfg, "key", ""),
		ACL: textOr(cfg, "acl", cos.DefaultACL), Encrypt: isTrue(cfg, "encrypt"),
	}
	keys := cloud.Keys{ID: textOr(cfg, "secret_id", ""), Secret: textOr(cfg, "secret_key", ""), Token: textOr(cfg, "security_token", "")}
	region := textOr(cfg, "region", "")
	switch {
	case strings.HasPrefix(opt.Prefix, "/") || strings.HasPrefix(opt.Prefix, "./"):
		return nil, errors.New("the argument \"prefix\" of the backend \"cos\" must not begin with / or ./")
	case strings.HasPrefix(opt.Key, "/") || strings.HasSuffix(opt.Key, "/"):
		return nil, errors.New("the argument \"key\" of the backend \"cos\" must not begin or end with /")
	case opt.ACL != cos.DefaultACL && opt.ACL != "public-read":
		return nil, errors.New("the argument \"acl\" of the backend \"cos\" must be private or public-read")
	case keys.ID == "" || keys.Secret == "":
		return nil, errors.New("the backend \"cos\" needs the arguments \"secret_id\" and \"secret_key\"")
	case region == "":
		return nil, errors.New("the backend \"cos\" needs the argument \"region\"")
	}
	role, err := cosRole(cfg, env)
	if err != nil {
		return nil, err
	}
	if opt.Account, err = tencent.New(ctx, keys, region, role, cloud.Client(nil)); err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"cos\": %w", err)
	}
	server := "cos." + region
	if isTrue(cfg, "accelerate") {
		server = "cos.accelerate"
	}
	opt.Bucket = opt.Account.Bucket("https://" + opt.Name + "." + server + ".myqcloud.com")
	return remote.New(cos.New(opt), env.remote()), nil
}

// cosRole returns the role to assume, from the block or the environment; nil for none.
func cosRole(cfg cty.Value, env Env) (*tencent.Role, error) {
	const variable = "TENCENTCLOUD_ASSUME_ROLE_"
	if block := cfg.GetAttr("assume_role"); !block.IsNull() && block.LengthInt() > 0 {
		b := block.AsValueSlice()[0]
		r := &tencent.Role{ARN: textOr(b, "role_arn", ""), Session: textOr(b, "session_name", ""), Policy: textOr(b, "policy", "")}
		seconds, err := countOf(b, "cos", "session_duration")
		if seconds != nil {
			r.Seconds = *seconds
		}
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
