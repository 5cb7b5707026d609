package workdir

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/childenv"
	"github.com/mayfly-iac/mayfly/internal/base/trace/requests"
	"github.com/mayfly-iac/mayfly/internal/install/web"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/encryption"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// encryptionVariable is the environment variable that completes the encryption block.
const encryptionVariable = "TF_ENCRYPTION"

// encryption returns the encryption by the root module, which has been loaded, and the environment. Warnings
// are returned the first time only.
func (b *Backend) encryption(ctx context.Context) (*encryption.Set, diag.List) {
	if b.encrypted != nil {
		return b.encrypted, nil
	}
	root := b.dir.root
	if root == nil {
		root = &config.Module{Dir: "."}
	}
	declared, diags := root.Encryption, diag.List(nil)
	if text := strings.TrimSpace(b.dir.files.vars[encryptionVariable]); text != "" {
		encryption.RememberSource(b.dir.opt.Leaks, encryptionVariable, text)
		var over *config.Encryption
		if over, diags = config.ParseEncryption([]byte(text), encryptionVariable); diags.HasErrors() {
			return nil, diags
		}
		declared = declared.Merge(over)
	}
	options := b.dir.staticOptions(ctx)
	keys, stored := mayfly.StaticKeys(options), mayfly.Static(options)
	set, ds := encryption.New(ctx, encryption.Options{
		Config: declared,
		Evaluate: func(expr hcl.Expression, isStored bool) (cty.Value, diag.List) {
			if isStored {
				return stored(root, expr)
			}
			return keys(root, expr)
		},
		Environ: b.dir.files.vars, Env: childenv.WithoutVariables(b.dir.opt.Environ), Client: keyClient(), Services: web.New(web.Options{DownloadRetries: keyRetries}).Services, Random: rand.Reader,
		Leaks: b.dir.opt.Leaks,
	})
	if diags = append(diags, ds...); diags.HasErrors() {
		return nil, diags
	}
	b.encrypted = set
	return set, diags
}

// keyClient returns a client for key management services. It follows no redirects: the header with a token
// would be sent to wherever they lead.
func keyClient() *http.Client {
	return &http.Client{Transport: requests.Noted(nil), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// keyRetries is how often a request to a cloud is repeated that fails for a moment.
const keyRetries = 2

// store opens the store of a location with the encryption of the configuration.
func (b *Backend) store(ctx context.Context, l location, files StateFiles) (store.Store, diag.List) {
	set, diags := b.encryption(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	s, ds := b.openLocation(ctx, l, files, stateCipher(set.State))
	return s, append(diags, ds...)
}

// stateCipher avoids a nil Codec in a non-nil interface.
func stateCipher(c *encryption.Codec) store.Cipher {
	if c == nil {
		return nil
	}
	return c
}

// isPlan reports whether the content of a file looks like a saved plan, which may be encrypted.
func isPlan(stored []byte) bool {
	return planfile.Is(stored) || encryption.Is(stored) && !encryption.IsState(stored)
}

// decrypt returns the content of a saved plan from its stored form.
func (ps *Plans) decrypt(ctx context.Context, stored []byte, name string) ([]byte, diag.List) {
	if !isPlan(stored) {
		return stored, nil
	}
	if diags := ps.dir.loadedRoot(ctx); diags.HasErrors() {
		return nil, diags
	}
	set, diags := ps.dir.Backend.encryption(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	if set.Plan == nil {
		if !planfile.Is(stored) {
			return nil, append(diags, unloadable("The file %s is encrypted, and neither the configuration in this directory nor the environment variable %s has a \"plan\" block of an encryption configuration to decrypt it with.", name, encryptionVariable)...)
		}
		return stored, diags
	}
	plain, err := set.Plan.Decrypt(stored)
	if err != nil {
		return nil, append(diags, unloadable("%s: %s.", name, err)...)
	}
	return plain, diags
}

// decryptRemote returns the content of a state that a data source reads.
func (s *Session) decryptRemote(in addr.Instance, stored []byte) ([]byte, error) {
	c := s.encryption.Remote(remoteName(in))
	if c == nil {
		return stored, nil
	}
	return c.Decrypt(stored)
}

// remoteName is the name that a remote_state_data_source block gives a data source, such as
// "child.module.grandchild.name[0]".
func remoteName(in addr.Instance) string {
	name := in.Resource.Name + in.Key.String()
	if module := strings.TrimPrefix(in.Module.String(), "module."); module != "" {
		return module + "." + name
	}
	return name
}

// ReadStateFile decodes a state file that is not in the backend. It may be encrypted as the states of the
// configuration are, or not at all. It returns nil for no content.
func (d *Dir) ReadStateFile(ctx context.Context, src []byte) (*state.File, error) {
	if !encryption.Is(src) {
		return state.Read(src)
	}
	diags := d.loadedRoot(ctx)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	set, diags := d.Backend.encryption(ctx)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	return store.Decode(src, stateCipher(set.State))
}
