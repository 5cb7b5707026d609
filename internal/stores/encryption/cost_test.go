package encryption

import (
	"crypto/rand"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// BenchmarkState is the cost of a state beyond that of the key: 64 MiB are about 100 000 small instances.
func BenchmarkState(b *testing.B) {
	declared, _ := config.ParseEncryption([]byte(keyA+stateA), "benchmark")
	set, diags := New(b.Context(), Options{Config: declared, Random: rand.Reader, Evaluate: func(expr hcl.Expression, _ bool) (cty.Value, diag.List) {
		v, hd := expr.Value(nil)
		return v, diag.FromHCL(hd)
	}})
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	plain := make([]byte, 64<<20)
	stored, err := set.State.EncryptState(plain, meta)
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err = set.State.DecryptState(stored); err != nil {
		b.Fatal(err)
	}
	b.Run("encrypt", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			_, err = set.State.EncryptState(plain, meta)
		}
	})
	b.Run("decrypt", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			_, _, err = set.State.DecryptState(stored)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
}
