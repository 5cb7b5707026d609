package backend

import "github.com/mayfly-iac/mayfly/internal/values/schema"

// ossKind keeps states as objects in a bucket of Alibaba Cloud. That service has no conditional writes, so
// the lock is a row in a table of another service, which the tablestore arguments name.
var ossKind = declare("oss", arguments{
	"access_key":                     text("ALICLOUD_ACCESS_KEY", "ALICLOUD_ACCESS_KEY_ID").secret().about("ID of the access key"),
	"secret_key":                     text("ALICLOUD_SECRET_KEY", "ALICLOUD_ACCESS_KEY_SECRET").secret().about("the access key"),
	"security_token":                 text("ALICLOUD_SECURITY_TOKEN").secret().about("token of temporary keys"),
	"ecs_role_name":                  text().about("role of the machine that this program runs on"),
	"region":                         text("ALICLOUD_REGION", "ALICLOUD_DEFAULT_REGION").place().about("region of the bucket"),
	"endpoint":                       text("ALICLOUD_OSS_ENDPOINT", "OSS_ENDPOINT").place().about("server of the bucket; by default that of the region"),
	"bucket":                         text().required().place().about("bucket; it must exist"),
	"prefix":                         text().place().about("directory of the states; `env:` by default"),
	"key":                            text().place().about("name of the state; `terraform.tfstate` by default"),
	"tablestore_endpoint":            text("ALICLOUD_TABLESTORE_ENDPOINT").about("server of the table of locks"),
	"tablestore_table":               text().about("table of locks; without it, nothing is locked"),
	"sts_endpoint":                   text("ALICLOUD_STS_ENDPOINT").about("server that is asked for roles"),
	"encrypt":                        boolean().about("encrypt the object on the server (AES-256)"),
	"acl":                            text().about("canned access rule of the object, such as `private`"),
	"shared_credentials_file":        text("ALICLOUD_SHARED_CREDENTIALS_FILE").about("file with profiles; `~/.aliyun/config.json` by default"),
	"profile":                        text("ALICLOUD_PROFILE").about("profile in that file"),
	"assume_role_role_arn":           text("ALICLOUD_ASSUME_ROLE_ARN").about("role to assume"),
	"assume_role_policy":             text().about("policy in JSON that narrows the rights of the session"),
	"assume_role_session_name":       text("ALICLOUD_ASSUME_ROLE_SESSION_NAME").about("name of the session; `mayfly` by default"),
	"assume_role_session_expiration": number("ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION").about("how long the session lasts, in seconds"),
}, map[string]*schema.NestedBlock{"assume_role": deprecatedBlock(block(schema.Set, "the former form of `assume_role_role_arn` and similar arguments", arguments{
	"role_arn":           text().about("role to assume"),
	"policy":             text().about("policy in JSON that narrows the rights of the session"),
	"session_name":       text().about("name of the session"),
	"session_expiration": number().about("how long the session lasts, in seconds"),
}), "Use \"assume_role_role_arn\" and similar arguments in place of the block \"assume_role\".")})
