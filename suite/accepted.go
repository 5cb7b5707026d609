package suite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// accepted remembers which configurations of mocked objects their providers accepted without remarks. Many
// runs of a suite have the same ones, and asking takes longer than planning an object. Configurations can
// have ephemeral values, so only keyed hashes of them are kept. It may be used concurrently.
type accepted struct {
	once sync.Once
	key  [sha256.Size]byte
	seen sync.Map // of objectKey
}

// objectKey stands for a type and a configuration of it.
type objectKey struct {
	provider addr.Provider
	typeKey
	config [sha256.Size]byte
}

// validate has a provider validate a configuration, unless it accepted the same one before.
func (a *accepted) validate(ctx context.Context, p *mayfly.Project, source addr.Provider, mode addr.Mode, typeName string, config cty.Value) diag.List {
	a.once.Do(func() { _, _ = rand.Read(a.key[:]) }) // never fails
	catalog, diags := p.Catalog(ctx, source)
	if diags.HasErrors() {
		return diags
	}
	sch, diags := catalog.Resource(mode, typeName)
	if diags.HasErrors() {
		return diags
	}
	text, err := msgpack.Marshal(config, sch.Block.Type()) // with the types of values that may be of any type
	key := objectKey{source, typeKey{mode, typeName}, sha256.Sum256(append(a.key[:], text...))}
	if _, seen := a.seen.Load(key); seen && err == nil {
		return nil
	}
	diags = p.ValidateResource(ctx, source, mode, typeName, config)
	if len(diags) == 0 && err == nil {
		a.seen.Store(key, struct{}{})
	}
	return diags
}
