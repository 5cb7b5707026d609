package backend

import "github.com/mayfly-iac/mayfly/schema"

// cosKind keeps states as objects in a bucket of Tencent Cloud, below a prefix and with a name that have
// defaults. Its arguments are known, so that configurations that use it are valid.
var cosKind = declare("cos", arguments{
	"secret_id":      text("TENCENTCLOUD_SECRET_ID").secret(),
	"secret_key":     text("TENCENTCLOUD_SECRET_KEY").secret(),
	"security_token": text("TENCENTCLOUD_SECURITY_TOKEN").secret(),
	"region":         text("TENCENTCLOUD_REGION").place(),
	"bucket":         text().required().place(),
	"prefix":         text().place(),
	"key":            text().place(),
	"encrypt":        boolean(),
	"acl":            text(),
	"accelerate":     boolean(),
}, map[string]*schema.NestedBlock{
	"assume_role": block(schema.Set, arguments{
		"role_arn":         text().required(),
		"session_name":     text().required(),
		"session_duration": number().required(),
		"policy":           text(),
	}),
})
