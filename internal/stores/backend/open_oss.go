//go:build !mayfly_no_oss

package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/alibaba"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/oss"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	ossKind.service = service{open: openOSS, place: ossPlace}
}

func ossPlace(cfg cty.Value) string {
	return "oss://" + textOr(cfg, "bucket", "") + "/" + textOr(cfg, "prefix", oss.DefaultPrefix) + "/" + textOr(cfg, "key", objects.DefaultKey)
}

// openOSS opens a bucket, and the table of its locks if there is one. The endpoints follow from the region
// unless they are given.
func openOSS(ctx context.Context, cfg cty.Value, env Env) (store.Store, error) {
	opt := oss.Options{
		Name: textOr(cfg, "bucket", ""), Prefix: strings.TrimSuffix(textOr(cfg, "prefix", ""), "/"), Key: textOr(cfg, "key", ""),
		ACL: textOr(cfg, "acl", ""), Encrypt: isTrue(cfg, "encrypt"),
	}
	if strings.HasPrefix(opt.Prefix, "/") || strings.HasPrefix(opt.Prefix, "./") {
		return nil, errors.New("the argument \"prefix\" of the backend \"oss\" must not begin with / or ./")
	}
	if strings.HasPrefix(opt.Key, "/") || strings.HasSuffix(opt.Key, "/") {
		return nil, errors.New("the argument \"key\" of the backend \"oss\" must not begin or end with /")
	}
	client := cloud.Client(nil)
	source, region, err := ossSource(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"oss\": %w", err)
	}
	account, err := alibaba.New(ctx, source, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"oss\": %w", err)
	}
	server := textOr(cfg, "endpoint", "")
	if server == "" {
		if region == "" {
			return nil, errors.New("the backend \"oss\" needs the argument \"region\" or \"endpoint\"")
		}
		server = "https://oss-" + region + ".aliyuncs.com"
	}
	if opt.Bucket, err = account.Bucket(server, opt.Name); err != nil {
		return nil, fmt.Errorf("the argument \"endpoint\" of the backend \"oss\": %w", err)
	}
	name, server := textOr(cfg, "tablestore_table", ""), textOr(cfg, "tablestore_endpoint", "")
	switch {
	case name != "" && server == "":
		return nil, errors.New("the backend \"oss\" needs the argument \"tablestore_endpoint\" with \"tablestore_table\"")
	case name != "":
		if opt.Table, err = account.Table(server, name, "LockID"); err != nil {
			return nil, fmt.Errorf("the argument \"tablestore_endpoint\" of the backend \"oss\": %w", err)
		}
	}
	return remote.New(oss.New(opt), env.remote()), nil
}

// ossSource returns where keys come from, and the region: the first of keys, a role of this machine, and a
// profile, which then may assume a role.
func ossSource(cfg cty.Value, client *http.Client) (source cloud.Source, region string, err error) {
	region = textOr(cfg, "region", "")
	id, secret := textOr(cfg, "access_key", ""), textOr(cfg, "secret_key", "")
	switch machine, profile := textOr(cfg, "ecs_role_name", ""), textOr(cfg, "profile", ""); {
	case (id == "") != (secret == ""):
		return nil, "", errors.New("\"access_key\" and \"secret_key\" must be set together")
	case id != "":
		source = cloud.Static(cloud.Keys{ID: id, Secret: secret, Token: textOr(cfg, "security_token", "")})
	case machine != "":
		source = alibaba.Machine(machine, client)
	case profile != "":
		var its string
		if source, its, err = alibaba.Profile(textOr(cfg, "shared_credentials_file", ""), profile, client); err != nil {
			return nil, "", fmt.Errorf("\"profile\": %w", err)
		}
		region = cmp.Or(region, its)
	default:
		return nil, "", errors.New("set \"access_key\" and \"secret_key\", \"ecs_role_name\" or \"profile\"")
	}
	role, err := ossRole(cfg)
	if role.ARN != "" && err == nil {
		source = alibaba.Assume(role, source, client)
	}
	return source, region, err
}

// ossRole returns the role to assume, if its name is set: by arguments, or by the block in their place.
func ossRole(cfg cty.Value) (alibaba.Role, error) {
	from, prefix := cfg, "assume_role_"
	if block := cfg.GetAttr("assume_role"); textOr(cfg, prefix+"role_arn", "") == "" && !block.IsNull() && block.LengthInt() > 0 {
		from, prefix = block.AsValueSlice()[0], ""
	}
	r := alibaba.Role{
		ARN: textOr(from, prefix+"role_arn", ""), Session: textOr(from, prefix+"session_name", "mayfly"), Policy: textOr(from, prefix+"policy", ""),
		Server: textOr(cfg, "sts_endpoint", ""),
	}
	seconds, err := countOf(from, "oss", prefix+"session_expiration")
	if seconds != nil {
		r.Seconds = *seconds
	}
	return r, err
}
