package provision

import (
	"context"
	"os"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

// upload carries out a file provisioner. Given content is uploaded without a file on this machine.
func (r *remoteWork) upload(ctx context.Context, client *ssh.Client, args cty.Value) error {
	destination := args.GetAttr("destination").AsString()
	if content := args.GetAttr("content"); !content.IsNull() {
		return client.UploadContent(ctx, content.AsString(), destination)
	}
	source := args.GetAttr("source").AsString()
	from := r.local(source)
	// Cleaning the name has removed a slash at its end, which is significant.
	if strings.HasSuffix(source, "/") || strings.HasSuffix(source, string(os.PathSeparator)) {
		from += "/"
	}
	return client.Upload(ctx, from, destination)
}
