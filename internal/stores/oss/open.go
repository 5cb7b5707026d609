//go:build !mayfly_no_oss

package oss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/alibaba"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{Connect: connect, Place: placeOf}
}

func placeOf(cfg backend.Config) string {
	return "oss://" + cfg.Text("bucket") + "/" + cfg.TextOr("prefix", defaultPrefix) + "/" + cfg.TextOr("key", objects.DefaultKey)
}

// connect opens a bucket, and the table of its locks if there is one. The endpoints follow from the region
// unless they are given.
func connect(ctx context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	opt := Options{
		Name: cfg.Text("bucket"), Prefix: strings.TrimSuffix(cfg.Text("prefix"), "/"), Key: cfg.Text("key"),
		ACL: cfg.Text("acl"), Encrypt: cfg.Flag("encrypt"),
	}
	if strings.HasPrefix(opt.Prefix, "/") || strings.HasPrefix(opt.Prefix, "./") {
		return nil, errors.New("the argument \"prefix\" of the backend \"oss\" must not begin with / or ./")
	}
	if strings.HasPrefix(opt.Key, "/") || strings.HasSuffix(opt.Key, "/") {
		return nil, errors.New("the argument \"key\" of the backend \"oss\" must not begin or end with /")
	}
	client := cloud.Client(nil)
	source, region, err := sourceOf(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"oss\": %w", err)
	}
	account, err := alibaba.New(ctx, source, client)
	if err != nil {
		return nil, fmt.Errorf("the credentials of the backend \"oss\": %w", err)
	}
	server := cfg.Text("endpoint")
	if server == "" {
		if region == "" {
			return nil, errors.New("the backend \"oss\" needs the argument \"region\" or \"endpoint\"")
		}
		server = "https://oss-" + region + ".aliyuncs.com"
	}
	if opt.Bucket, err = account.Bucket(server, opt.Name); err != nil {
		return nil, fmt.Errorf("the argument \"endpoint\" of the backend \"oss\": %w", err)
	}
	name, server := cfg.Text("tablestore_table"), cfg.Text("tablestore_endpoint")
	switch {
	case name != "" && server == "":
		return nil, errors.New("the backend \"oss\" needs the argument \"tablestore_endpoint\" with \"tablestore_table\"")
	case name != "":
		if opt.Table, err = account.Table(server, name, "LockID"); err != nil {
			return nil, fmt.Errorf("the argument \"tablestore_endpoint\" of the backend \"oss\": %w", err)
		}
	}
	return New(opt), nil
}

// sourceOf returns where keys come from, and the region: the first of keys, a role of this machine, and a
// profile, which then may assume a role.
func sourceOf(cfg backend.Config, client *http.Client) (source cloud.Source, region string, err error) {
	region = cfg.Text("region")
	id, secret := cfg.Text("access_key"), cfg.Text("secret_key")
	switch machine, profile := cfg.Text("ecs_role_name"), cfg.Text("profile"); {
	case (id == "") != (secret == ""):
		return nil, "", errors.New("\"access_key\" and \"secret_key\" must be set together")
	case id != "":
		source = cloud.Static(cloud.Keys{ID: id, Secret: secret, Token: cfg.Text("security_token")})
	case machine != "":
		source = alibaba.Machine(machine, client)
	case profile != "":
		var its string
		if source, its, err = alibaba.Profile(cfg.Text("shared_credentials_file"), profile, client); err != nil {
			return nil, "", fmt.Errorf("\"profile\": %w", err)
		}
		region = cmp.Or(region, its)
	default:
		return nil, "", errors.New("set \"access_key\" and \"secret_key\", \"ecs_role_name\" or \"profile\"")
	}
	role, err := roleOf(cfg)
	if role.ARN != "" && err == nil {
		source = alibaba.Assume(role, source, client)
	}
	return source, region, err
}

// roleOf returns the role to assume, if its name is set: by arguments, or by the block in their place.
func roleOf(cfg backend.Config) (alibaba.Role, error) {
	from, prefix := cfg, "assume_role_"
	if block, ok := cfg.Nested("assume_role"); ok && cfg.Text(prefix+"role_arn") == "" {
		from, prefix = block, ""
	}
	r := alibaba.Role{
		ARN: from.Text(prefix + "role_arn"), Session: from.TextOr(prefix+"session_name", "mayfly"), Policy: from.Text(prefix + "policy"),
		Server: cfg.Text("sts_endpoint"),
	}
	var err error
	r.Seconds, err = from.CountOr("oss", prefix+"session_expiration", 0)
	return r, err
}
