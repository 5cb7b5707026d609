package state

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestWholeIsSeldomCopied encodes 20,000 instances that follow a large output.
func TestWholeIsSeldomCopied(t *testing.T) {
	f := &File{Meta: Meta{Lineage: "l"}, State: New()}
	f.State.SetOutput("a", &Output{Value: sealed(t, cty.StringVal(strings.Repeat("large ", 100_000)))})
	r := addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}
	for i := range 20_000 {
		o := &Object{attrs: []byte(`{"id":"0123456789"}`)}
		f.State.SetObject(addr.Object{Instance: addr.Instance{Module: addr.RootInstance, Resource: r, Key: addr.IntKey(i)}}, o, addr.ProviderConfig{Provider: addr.BuiltinProvider})
	}
	var b whole
	if err := b.encode(f); err != nil {
		t.Fatal(err)
	}
	if unused := cap(b.text) - len(b.text); unused > len(b.text)/16 {
		t.Errorf("got %d bytes and %d unused, want at most a sixteenth", len(b.text), unused)
	}
	var want bytes.Buffer
	if err := Encode(&want, f); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.text, want.Bytes()) {
		t.Error("got another text than the one in blocks")
	}
}

// TestWholeStays writes blocks of instances that become larger, which fit into the memory of the first.
func TestWholeStays(t *testing.T) {
	b := whole{instances: 10}
	write := func(size int) *byte {
		b.encoder.done++
		if _, err := b.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		return &b.text[0]
	}
	first := write(1000)
	for _, size := range []int{2000, 2000, 2000} {
		if write(size) != first {
			t.Fatalf("got a copy at %d bytes, want none before %d", len(b.text), cap(b.text))
		}
	}
}
