package backend

import "github.com/mayfly-iac/mayfly/schema"

// ossKind keeps states as objects in a bucket of Alibaba Cloud. That service has no conditional writes, so
// the lock is a row in a table of another service, which the tablestore arguments name.
var ossKind = declare("oss", arguments{
	"access_key":                     text("ALICLOUD_ACCESS_KEY", "ALICLOUD_ACCESS_KEY_ID").secret(),
	"secret_key":                     text("ALICLOUD_SECRET_KEY", "ALICLOUD_ACCESS_KEY_SECRET").secret(),
	"security_token":                 text("ALICLOUD_SECURITY_TOKEN").secret(),
	"ecs_role_name":                  text(),
	"region":                         text("ALICLOUD_REGION", "ALICLOUD_DEFAULT_REGION").place(),
	"endpoint":                       text("ALICLOUD_OSS_ENDPOINT", "OSS_ENDPOINT").place(),
	"bucket":                         text().required().place(),
	"prefix":                         text().place(),
	"key":                            text().place(),
	"tablestore_endpoint":            text("ALICLOUD_TABLESTORE_ENDPOINT"),
	"tablestore_table":               text(),
	"sts_endpoint":                   text("ALICLOUD_STS_ENDPOINT"),
	"encrypt":                        boolean(),
	"acl":                            text(),
	"shared_credentials_file":        text("ALICLOUD_SHARED_CREDENTIALS_FILE"),
	"profile":                        text("ALICLOUD_PROFILE"),
	"assume_role_role_arn":           text("ALICLOUD_ASSUME_ROLE_ARN"),
	"assume_role_policy":             text(),
	"assume_role_session_name":       text("ALICLOUD_ASSUME_ROLE_SESSION_NAME"),
	"assume_role_session_expiration": number("ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION"),
}, map[string]*schema.NestedBlock{"assume_role": deprecatedBlock(block(schema.Set, arguments{
	"role_arn":           text(),
	"policy":             text(),
	"session_name":       text(),
	"session_expiration": number(),
}), "Use \"assume_role_role_arn\" and similar arguments in place of the block \"assume_role\".")})
