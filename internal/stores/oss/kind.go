package oss

import (
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Kind keeps states as objects in a bucket of Alibaba Cloud. That service has no conditional writes, so
// the lock is a row in a table of another service, which the tablestore arguments name.
var Kind = backend.Declare("oss", backend.Arguments{
	"access_key":                     backend.Text("ALICLOUD_ACCESS_KEY", "ALICLOUD_ACCESS_KEY_ID").Secret().About("ID of the access key"),
	"secret_key":                     backend.Text("ALICLOUD_SECRET_KEY", "ALICLOUD_ACCESS_KEY_SECRET").Secret().About("the access key"),
	"security_token":                 backend.Text("ALICLOUD_SECURITY_TOKEN").Secret().About("token of temporary keys"),
	"ecs_role_name":                  backend.Text().About("role of the machine that this program runs on"),
	"region":                         backend.Text("ALICLOUD_REGION", "ALICLOUD_DEFAULT_REGION").Place().About("region of the bucket"),
	"endpoint":                       backend.Text("ALICLOUD_OSS_ENDPOINT", "OSS_ENDPOINT").Place().About("server of the bucket; by default that of the region"),
	"bucket":                         backend.Text().Required().Place().About("bucket; it must exist"),
	"prefix":                         backend.Text().Place().About("directory of the states; `env:` by default"),
	"key":                            backend.Text().Place().About("name of the state; `terraform.tfstate` by default"),
	"tablestore_endpoint":            backend.Text("ALICLOUD_TABLESTORE_ENDPOINT").About("server of the table of locks"),
	"tablestore_table":               backend.Text().About("table of locks; without it, nothing is locked"),
	"sts_endpoint":                   backend.Text("ALICLOUD_STS_ENDPOINT").About("server that is asked for roles"),
	"encrypt":                        backend.Boolean().About("encrypt the object on the server (AES-256)"),
	"acl":                            backend.Text().About("canned access rule of the object, such as `private`"),
	"shared_credentials_file":        backend.Text("ALICLOUD_SHARED_CREDENTIALS_FILE").About("file with profiles; `~/.aliyun/config.json` by default"),
	"profile":                        backend.Text("ALICLOUD_PROFILE").About("profile in that file"),
	"assume_role_role_arn":           backend.Text("ALICLOUD_ASSUME_ROLE_ARN").About("role to assume"),
	"assume_role_policy":             backend.Text().About("policy in JSON that narrows the rights of the session"),
	"assume_role_session_name":       backend.Text("ALICLOUD_ASSUME_ROLE_SESSION_NAME").About("name of the session; `mayfly` by default"),
	"assume_role_session_expiration": backend.Number("ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION").About("how long the session lasts, in seconds"),
}, map[string]*schema.NestedBlock{"assume_role": backend.DeprecatedBlock(backend.Block(schema.Set, "the former form of `assume_role_role_arn` and similar arguments", backend.Arguments{
	"role_arn":           backend.Text().About("role to assume"),
	"policy":             backend.Text().About("policy in JSON that narrows the rights of the session"),
	"session_name":       backend.Text().About("name of the session"),
	"session_expiration": backend.Number().About("how long the session lasts, in seconds"),
}), "Use \"assume_role_role_arn\" and similar arguments in place of the block \"assume_role\".")}, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
