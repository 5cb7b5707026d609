package ocimirror

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"oras.land/oras-go/v2/registry/remote"

	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// blob writes the content with a digest from a repository to a file and verifies it. The client of the
// repository must not retry.
func blob(ctx context.Context, client *web.Client, repo *remote.Repository, d descriptor, to *os.File, progress web.Progress) error {
	var got string
	err := client.Attempts(ctx, func(ctx context.Context, touch func()) (*http.Response, error) {
		_, body, err := repo.Blobs().FetchReference(ctx, d.Digest)
		if err != nil {
			return nil, explain(repo, err)
		}
		defer body.Close()
		got, err = web.Copy(to, body, d.Size, touch, progress)
		if err != nil {
			err = fmt.Errorf("downloading %s@%s: %w", name(repo), d.Digest, web.Reason(err))
		}
		return nil, err
	})
	if err == nil && "sha256:"+got != d.Digest {
		err = fmt.Errorf("the content that %s has under the digest %s has the digest sha256:%s: it was damaged or changed on the way", name(repo), d.Digest, got)
	}
	return err
}
