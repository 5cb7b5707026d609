package cos

import (
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Kind keeps states as objects in a bucket of Tencent Cloud, below a prefix and with a name that have
// defaults. Its arguments are known, so that configurations that use it are valid.
var Kind = backend.Declare("cos", backend.Arguments{
	"secret_id":      backend.Text("TENCENTCLOUD_SECRET_ID").Secret().About("ID of the access key"),
	"secret_key":     backend.Text("TENCENTCLOUD_SECRET_KEY").Secret().About("the access key"),
	"security_token": backend.Text("TENCENTCLOUD_SECURITY_TOKEN").Secret().About("token of temporary keys"),
	"region":         backend.Text("TENCENTCLOUD_REGION").Place().About("region of the bucket, such as `ap-guangzhou`"),
	"bucket":         backend.Text().Required().Place().About("bucket, with the number of the account at its end"),
	"prefix":         backend.Text().Place().About("directory of the states"),
	"key":            backend.Text().Place().About("name of the state; `terraform.tfstate` by default"),
	"encrypt":        backend.Boolean().About("encrypt the object on the server (AES-256)"),
	"acl":            backend.Text().About("`private` (default) or `public-read`"),
	"accelerate":     backend.Boolean().About("use the servers for global acceleration"),
}, map[string]*schema.NestedBlock{
	"assume_role": backend.Block(schema.Set, "role to assume with the access key", backend.Arguments{
		"role_arn":         backend.Text().Required().About("role to assume"),
		"session_name":     backend.Text().Required().About("name of the session"),
		"session_duration": backend.Number().Required().About("how long the session lasts, in seconds"),
		"policy":           backend.Text().About("policy in JSON that narrows the rights of the session"),
	}),
}, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
