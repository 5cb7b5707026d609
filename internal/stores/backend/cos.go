package backend

import "github.com/mayfly-iac/mayfly/internal/values/schema"

// cosKind keeps states as objects in a bucket of Tencent Cloud, below a prefix and with a name that have
// defaults. Its arguments are known, so that configurations that use it are valid.
var cosKind = declare("cos", arguments{
	"secret_id":      text("TENCENTCLOUD_SECRET_ID").secret().about("ID of the access key"),
	"secret_key":     text("TENCENTCLOUD_SECRET_KEY").secret().about("the access key"),
	"security_token": text("TENCENTCLOUD_SECURITY_TOKEN").secret().about("token of temporary keys"),
	"region":         text("TENCENTCLOUD_REGION").place().about("region of the bucket, such as `ap-guangzhou`"),
	"bucket":         text().required().place().about("bucket, with the number of the account at its end"),
	"prefix":         text().place().about("directory of the states"),
	"key":            text().place().about("name of the state; `terraform.tfstate` by default"),
	"encrypt":        boolean().about("encrypt the object on the server (AES-256)"),
	"acl":            text().about("`private` (default) or `public-read`"),
	"accelerate":     boolean().about("use the servers for global acceleration"),
}, map[string]*schema.NestedBlock{
	"assume_role": block(schema.Set, "role to assume with the access key", arguments{
		"role_arn":         text().required().about("role to assume"),
		"session_name":     text().required().about("name of the session"),
		"session_duration": number().required().about("how long the session lasts, in seconds"),
		"policy":           text().about("policy in JSON that narrows the rights of the session"),
	}),
})
