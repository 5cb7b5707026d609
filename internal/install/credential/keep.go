package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/childenv"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
)

// Keeper stores tokens for later runs.
type Keeper interface {
	// Store stores a token, replacing one for the same host. Its errors do not contain the token.
	Store(ctx context.Context, host svchost.Hostname, token cliconfig.Secret) error
	// Has reports whether there is a token for the host, as far as this can be determined without revealing
	// it.
	Has(ctx context.Context, host svchost.Hostname) (bool, error)
	// Forget removes the token for a host, if there is one.
	Forget(ctx context.Context, host svchost.Hostname) error
}

// NewKeeper returns the credentials helper of the configuration or, without one, the ecosystem's file. cfg
// may be nil.
func NewKeeper(cfg *cliconfig.Config, env cliconfig.Environment) (Keeper, error) {
	if cfg != nil && cfg.CredentialsHelper != nil {
		return &HelperKeeper{helper{block: cfg.CredentialsHelper, dirs: helperDirs(env), env: env}}, nil
	}
	path := env.CredentialsFile()
	if path == "" {
		return nil, errors.New("tokens cannot be stored: the home directory is unknown")
	}
	return &FileKeeper{Path: path}, nil
}

// HelperKeeper stores tokens with the user's credentials helper.
type HelperKeeper struct{ helper helper }

// Name returns the helper's name in the configuration.
func (k *HelperKeeper) Name() string { return k.helper.block.Name }

// Store implements Keeper.
func (k *HelperKeeper) Store(ctx context.Context, host svchost.Hostname, token cliconfig.Secret) error {
	doc, err := json.Marshal(map[string]string{"token": token.Reveal()})
	if err != nil {
		return err
	}
	return k.helper.run(ctx, doc, "store", host)
}

// Has implements Keeper.
func (k *HelperKeeper) Has(ctx context.Context, host svchost.Hostname) (bool, error) {
	creds, err := k.helper.ForHost(ctx, host)
	return creds != nil, err
}

// Forget implements Keeper.
func (k *HelperKeeper) Forget(ctx context.Context, host svchost.Hostname) error {
	return k.helper.run(ctx, nil, "forget", host)
}

// run makes the helper do something that it answers only with its exit status. Its output is not shown,
// since it may contain the token.
func (h *helper) run(ctx context.Context, input []byte, verb string, host svchost.Hostname) error {
	program, err := h.find()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(append([]string{}, h.block.Args...), verb, host.String())...)
	cmd.Env = trace.Environ(ctx, childenv.WithoutVariables(os.Environ()))
	cmd.Stdin = bytes.NewReader(input)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the credentials helper %q, configured at %s, could not %s the token for %s: %w", h.block.Name, diag.Place(h.block.Range), verb, host.ForDisplay(), err)
	}
	return nil
}

// FileKeeper stores tokens in a JSON file that only its owner may read.
type FileKeeper struct{ Path string }

// document is a file of credentials. Its other content is kept.
type document struct {
	top   map[string]json.RawMessage
	hosts map[string]json.RawMessage
}

// credentialsKey is the member of the file that has the tokens by host.
//
//	{"credentials": {"app.example.com": {"token": "…"}}}
const credentialsKey = "credentials"

// maxCredentials is the maximum size of the file of credentials, in bytes.
const maxCredentials = 16 << 20

// read reads the file; an empty document if it does not exist. Its errors quote nothing of it.
func (k *FileKeeper) read() (*document, error) {
	d := &document{top: map[string]json.RawMessage{}, hosts: map[string]json.RawMessage{}}
	src, err := safefile.Read(k.Path, maxCredentials)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(src)) == 0 {
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the file %s could not be read: %s", k.Path, diag.Reason(err))
	}
	err = json.Unmarshal(src, &d.top)
	if hosts, ok := d.top[credentialsKey]; err == nil && ok {
		err = json.Unmarshal(hosts, &d.hosts)
	}
	if err != nil || d.top == nil {
		// The decoder's message could quote from the file.
		return nil, fmt.Errorf("the file %s is not a JSON object of credentials, and was not changed; correct it, or move it away", k.Path)
	}
	if d.hosts == nil {
		d.hosts = map[string]json.RawMessage{}
	}
	return d, nil
}

// write replaces the file or, if that is a link, its target.
func (k *FileKeeper) write(d *document) error {
	all := map[string]any{}
	for name, text := range d.top {
		all[name] = text
	}
	all[credentialsKey] = d.hosts
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	path := k.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the directory of %s could not be created: %s", path, diag.Reason(err))
	}
	if err := safefile.ReplacePrivate(path, buf.Bytes()); err != nil {
		return fmt.Errorf("the file %s could not be written: %s", k.Path, diag.Reason(err))
	}
	return nil
}

// entries returns the names in the file that denote a host.
func (d *document) entries(host svchost.Hostname) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(d.hosts)), func(name string) bool {
		h, err := svchost.ForComparison(name)
		return err != nil || h != host
	})
}

// Store implements Keeper.
func (k *FileKeeper) Store(_ context.Context, host svchost.Hostname, token cliconfig.Secret) error {
	d, err := k.read()
	if err != nil {
		return err
	}
	for _, name := range d.entries(host) {
		delete(d.hosts, name)
	}
	entry, err := json.Marshal(map[string]string{"token": token.Reveal()})
	if err != nil {
		return err
	}
	d.hosts[host.String()] = entry
	return k.write(d)
}

// Has implements Keeper.
func (k *FileKeeper) Has(_ context.Context, host svchost.Hostname) (bool, error) {
	d, err := k.read()
	return err == nil && len(d.entries(host)) > 0, err
}

// Forget implements Keeper.
func (k *FileKeeper) Forget(_ context.Context, host svchost.Hostname) error {
	d, err := k.read()
	if err != nil {
		return err
	}
	names := d.entries(host)
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		delete(d.hosts, name)
	}
	return k.write(d)
}
