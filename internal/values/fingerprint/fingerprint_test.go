package fingerprint_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

func salt(t *testing.T, b byte) fingerprint.Salt {
	t.Helper()
	s, err := fingerprint.NewSalt(bytes.NewReader(bytes.Repeat([]byte{b}, 20)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func number(t *testing.T, h *fingerprint.Hasher, v cty.Value) uint64 {
	t.Helper()
	n, ok, err := h.Number(v)
	if err != nil || !ok {
		t.Fatalf("got %v, %v, want a number", ok, err)
	}
	if n == 0 || n >= 1<<53 {
		t.Errorf("got %d, want a number from 1 to 2^53-1", n)
	}
	return n
}

// TestSum checks that a value has a sum for each purpose and salt, and none without a salt.
func TestSum(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct {
		salt           byte
		value, purpose string
	}{{1, "a", "x"}, {1, "a", "y"}, {1, "b", "x"}, {2, "a", "x"}} {
		var first []byte
		for range 2 {
			sum, ok, err := fingerprint.New([]fingerprint.Salt{salt(t, c.salt)}, nil).Sum(cty.StringVal(c.value), c.purpose)
			if !ok || err != nil || len(sum) != 32 {
				t.Fatalf("%v: got %d bytes, %v, %v, want 32", c, len(sum), ok, err)
			}
			if first != nil && !bytes.Equal(first, sum) {
				t.Errorf("%v: got another sum the second time, want the same", c)
			}
			first = sum
		}
		if other, again := seen[string(first)]; again {
			t.Errorf("%v: got the sum of %s, want another one", c, other)
		}
		seen[string(first)] = c.value + " for " + c.purpose
	}
	if sum, ok, err := fingerprint.New(nil, nil).Sum(cty.StringVal("a"), "x"); ok || sum != nil || err != nil {
		t.Errorf("without a salt: got %x, %v, %v, want nothing", sum, ok, err)
	}
}

// TestNumber checks which values have the same number.
func TestNumber(t *testing.T) {
	values := map[string]cty.Value{
		"text": cty.StringVal("1"), "number": cty.NumberIntVal(1), "bool": cty.True, "null": cty.NullVal(cty.String), "empty": cty.StringVal(""),
		"list": cty.ListVal([]cty.Value{cty.StringVal("1")}), "tuple": cty.TupleVal([]cty.Value{cty.StringVal("1")}), "empty list": cty.ListValEmpty(cty.String),
		"map": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1")}), "object": cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("1")}),
		"word": cty.StringVal("null"),
	}
	one := salt(t, 1)
	h, again, other := fingerprint.New([]fingerprint.Salt{one}, nil), fingerprint.New([]fingerprint.Salt{one}, nil), fingerprint.New([]fingerprint.Salt{salt(t, 2)}, nil)
	seen := map[uint64]string{}
	for name, v := range values {
		n := number(t, h, v)
		if same, ok := seen[n]; ok {
			t.Errorf("%s has the number of %s", name, same)
		}
		seen[n] = name
		if got := number(t, again, v); got != n {
			t.Errorf("%s: got %d with the same salt, want %d", name, got, n)
		}
		if number(t, other, v) == n {
			t.Errorf("%s has the same number with another salt", name)
		}
	}
	if number(t, h, cty.NullVal(cty.DynamicPseudoType)) != number(t, h, values["null"]) {
		t.Error("two nulls have different numbers")
	}
	if got, want := number(t, h, values["text"]), uint64(7186066426457044); got != want {
		t.Errorf("got %d, want %d, which configurations have written down", got, want)
	}
	if h.Made() != nil {
		t.Error("a salt was made although there was one")
	}
}

// TestSalts checks which salt is used, and when one is made.
func TestSalts(t *testing.T) {
	v, one := cty.StringVal("x"), salt(t, 1)
	newer := fingerprint.Salt{ID: "n", Scheme: "newer", Bytes: []byte("0123456789abcdef")}
	want := number(t, fingerprint.New([]fingerprint.Salt{one}, nil), v)
	if got := number(t, fingerprint.New([]fingerprint.Salt{newer, one, salt(t, 2)}, rand.Reader), v); got != want {
		t.Errorf("got %d with other salts beside, want %d", got, want)
	}
	short := fingerprint.Salt{ID: "s", Scheme: fingerprint.Scheme, Bytes: []byte("short")}
	if n, ok, err := fingerprint.New([]fingerprint.Salt{newer, short}, nil).Number(v); ok || err != nil || n != 0 {
		t.Errorf("got %d, %v, %v without a salt, want nothing", n, ok, err)
	}
	h := fingerprint.New([]fingerprint.Salt{newer}, rand.Reader)
	if h.Made() != nil {
		t.Error("a salt was made before it was needed")
	}
	made := number(t, h, v)
	salts := h.Made()
	if len(salts) != 1 || salts[0].Scheme != fingerprint.Scheme || len(salts[0].Bytes) != 16 || len(salts[0].ID) != 8 {
		t.Fatalf("got %v, want one new salt", salts)
	}
	if got := number(t, fingerprint.New(salts, nil), v); got != made {
		t.Errorf("got %d with the salt that was made, want %d", got, made)
	}
	broken := errors.New("broken")
	if _, ok, err := fingerprint.New(nil, iotest.ErrReader(broken)).Number(v); ok || !errors.Is(err, broken) {
		t.Errorf("got %v, %v, want the error of the source of randomness", ok, err)
	}
}

// TestShared hashes one value from many goroutines. Only one of them makes a salt.
func TestShared(t *testing.T) {
	reads := 0
	h := fingerprint.New(nil, io.MultiReader(readerFunc(func(b []byte) (int, error) {
		reads++
		return rand.Read(b)
	})))
	got := make([]uint64, 50)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i], _, _ = h.Number(cty.StringVal("shared")) })
	}
	all.Wait()
	for _, n := range got {
		if n == 0 || n != got[0] {
			t.Fatalf("got %v, want equal numbers", got)
		}
	}
	if reads != 1 {
		t.Errorf("got %d salts, want 1", reads)
	}
}

// TestHashes checks that the hashers of a plan and of its apply hash a value once, and that those of other
// states don't share hashes.
func TestHashes(t *testing.T) {
	hashes, one, v := fingerprint.NewHashes(), salt(t, 1), cty.StringVal("x")
	want := number(t, hashes.New([]fingerprint.Salt{one}, nil), v)
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	n := allocated(func() {
		if got := number(t, hashes.New([]fingerprint.Salt{one}, nil), v); got != want {
			t.Errorf("got %d from another hasher, want %d", got, want)
		}
	})
	if n > 1<<20 {
		t.Errorf("got %d bytes of memory to hash a value again, want no hash", n)
	}
	if got := number(t, hashes.New([]fingerprint.Salt{salt(t, 2)}, nil), v); got == want {
		t.Error("got the same number with another salt, want another one")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// BenchmarkShared is a value that a thousand instances share; BenchmarkDistinct is one that each has alone.
func BenchmarkShared(b *testing.B) { benchmark(b, func(int) int { return 0 }) }

func BenchmarkDistinct(b *testing.B) { benchmark(b, func(i int) int { return i }) }

func benchmark(b *testing.B, value func(int) int) {
	for range b.N {
		h := fingerprint.New(nil, rand.Reader)
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				if _, ok, err := h.Number(cty.NumberIntVal(int64(value(i)))); !ok || err != nil {
					b.Error(ok, err)
				}
			})
		}
		all.Wait()
	}
}

// TestSaltOf makes the salt of a key, which no other use of the key gives. With another one, every block that
// reads a sensitive value would have another hash.
func TestSaltOf(t *testing.T) {
	const want = "fb51e1dc97d95454d1c5b6aa4f763882568ec40d2cf4f48d2bf764bffe8609bc"
	got := fingerprint.SaltOf([]byte("key"))
	if text := hex.EncodeToString(got.Bytes); text != want || got.Scheme != fingerprint.Scheme {
		t.Errorf("got the salt %s of the scheme %s, want %s", text, got.Scheme, want)
	}
}
