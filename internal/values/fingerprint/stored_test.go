package fingerprint_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

func of(t *testing.T, h *fingerprint.Hasher, v cty.Value) fingerprint.Fingerprint {
	t.Helper()
	f, err := h.Of(v)
	if err != nil || f.IsZero() {
		t.Fatalf("got %v, %v, want a fingerprint", f, err)
	}
	return f
}

func TestCompare(t *testing.T) {
	one, two := salt(t, 1), salt(t, 2)
	h := fingerprint.New([]fingerprint.Salt{one, two}, nil)
	f, older := of(t, h, cty.StringVal("x")), of(t, fingerprint.New([]fingerprint.Salt{two}, nil), cty.StringVal("x"))
	if f.Salt != one.ID || len(f.Own) != 16 || len(f.Sum) != 16 {
		t.Errorf("got a fingerprint with the salt %q and %d and %d bytes, want the first salt and 16 bytes each", f.Salt, len(f.Own), len(f.Sum))
	}
	broken := f
	broken.Sum = nil
	for _, row := range []struct {
		name string
		f    fingerprint.Fingerprint
		v    cty.Value
		want fingerprint.Comparison
	}{
		{"the same", f, cty.StringVal("x"), fingerprint.Same},
		{"another value", f, cty.StringVal("y"), fingerprint.Different},
		{"another type", cty1(t, h), cty.StringVal("1"), fingerprint.Different},
		{"another salt that is there", older, cty.StringVal("x"), fingerprint.Same},
		{"another salt and value", older, cty.StringVal("y"), fingerprint.Different},
		{"nothing", fingerprint.Fingerprint{}, cty.StringVal("x"), fingerprint.Incomparable},
		{"a salt that is gone", fingerprint.Fingerprint{Salt: "gone", Own: f.Own, Sum: f.Sum}, cty.StringVal("x"), fingerprint.Incomparable},
		{"without a sum", broken, cty.StringVal("x"), fingerprint.Different},
	} {
		if got, err := h.Compare(row.f, row.v); got != row.want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", row.name, got, err, row.want)
		}
	}
}

// TestCompareMakesNoSalt checks that only a new fingerprint needs a salt.
func TestCompareMakesNoSalt(t *testing.T) {
	h := fingerprint.New(nil, bytes.NewReader(make([]byte, 20)))
	got, err := h.Compare(fingerprint.Fingerprint{Salt: "gone"}, cty.StringVal("x"))
	if got != fingerprint.Incomparable || err != nil || h.Made() != nil {
		t.Errorf("got %v, %v and the salts %v, want no comparison and no salt", got, err, h.Made())
	}
}

func cty1(t *testing.T, h *fingerprint.Hasher) fingerprint.Fingerprint {
	return of(t, h, cty.NumberIntVal(1))
}

// TestOwnBytes checks that two fingerprints of one value don't show that.
func TestOwnBytes(t *testing.T) {
	h := fingerprint.New([]fingerprint.Salt{salt(t, 1)}, nil)
	a, b := of(t, h, cty.StringVal("x")), of(t, h, cty.StringVal("x"))
	if bytes.Equal(a.Own, b.Own) || bytes.Equal(a.Sum, b.Sum) || a.Equal(b) {
		t.Errorf("got %s and %s of one value, want different ones", a, b)
	}
}

func TestEqual(t *testing.T) {
	f := fingerprint.Fingerprint{Salt: "s", Own: []byte("own"), Sum: []byte("sum")}
	for name, change := range map[string]func(*fingerprint.Fingerprint){
		"salt": func(f *fingerprint.Fingerprint) { f.Salt = "t" },
		"own":  func(f *fingerprint.Fingerprint) { f.Own = []byte("one") },
		"sum":  func(f *fingerprint.Fingerprint) { f.Sum = []byte("sun") },
	} {
		other := f
		if !f.Equal(other) {
			t.Errorf("%s: got another fingerprint before the change, want the same", name)
		}
		if change(&other); f.Equal(other) {
			t.Errorf("%s: got the same fingerprint, want another one", name)
		}
	}
}

func TestText(t *testing.T) {
	f := of(t, fingerprint.New([]fingerprint.Salt{salt(t, 1)}, nil), cty.StringVal("x"))
	for _, f := range []fingerprint.Fingerprint{{}, f} {
		if got, err := fingerprint.Parse(f.String()); err != nil || !got.Equal(f) {
			t.Errorf("got %v, %v of %q, want the same", got, err, f)
		}
	}
	if got := f.String(); strings.Count(got, ".") != 2 || !strings.HasPrefix(got, f.Salt+".") {
		t.Errorf("got %q, want three parts that begin with the salt", got)
	}
	for text, want := range map[string]string{
		"s":           "three parts",
		"s.YQ":        "three parts",
		"s.YQ.YQ.YQ":  "three parts",
		".YQ.YQ":      "three parts",
		"s.!.YQ":      "not Base64",
		"s.YQ.!":      "not Base64",
		"s.YQ==.YQ==": "not Base64",
	} {
		if got, err := fingerprint.Parse(text); err == nil || !strings.Contains(err.Error(), want) || !got.IsZero() {
			t.Errorf("%q: got %v, %v, want an error about %q", text, got, err, want)
		}
	}
}

// TestReady checks when fingerprints can be made.
func TestReady(t *testing.T) {
	one := []fingerprint.Salt{salt(t, 1)}
	broken := iotest.ErrReader(errors.New("broken"))
	for _, row := range []struct {
		name        string
		h           *fingerprint.Hasher
		ready, made bool
	}{
		{"with a salt", fingerprint.New(one, nil), true, true},
		{"with randomness", fingerprint.New(nil, bytes.NewReader(make([]byte, 20))), true, true},
		{"with neither", fingerprint.New(nil, nil), false, false},
		{"with a salt of another scheme", fingerprint.New([]fingerprint.Salt{{ID: "s", Scheme: "newer", Bytes: one[0].Bytes}}, nil), false, false},
	} {
		if got := row.h.Ready(); got != row.ready {
			t.Errorf("%s: got ready %t, want %t", row.name, got, row.ready)
		}
		if f, err := row.h.Of(cty.StringVal("x")); err != nil || f.IsZero() == row.made {
			t.Errorf("%s: got %v, %v, want a fingerprint %t", row.name, f, err, row.made)
		}
	}
	if f, err := fingerprint.New(nil, broken).Of(cty.StringVal("x")); err == nil || !f.IsZero() {
		t.Errorf("got %v, %v, want the error of the source of randomness", f, err)
	}
}

// TestQuick checks fingerprints that are made without the slow hash.
func TestQuick(t *testing.T) {
	h := fingerprint.New([]fingerprint.Salt{salt(t, 1)}, nil)
	other := fingerprint.New([]fingerprint.Salt{salt(t, 2)}, nil)
	v := cty.StringVal("1")
	f, err := h.Quick(v)
	if err != nil || f.IsZero() {
		t.Fatalf("got %v, %v, want a fingerprint", f, err)
	}
	if again, _ := h.Quick(v); again.Equal(f) {
		t.Error("two fingerprints of a value are the same one")
	}
	slow, err := h.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		by   *fingerprint.Hasher
		f    fingerprint.Fingerprint
		v    cty.Value
		want fingerprint.Comparison
	}{
		{"the same", h, f, v, fingerprint.Same},
		{"another value", h, f, cty.StringVal("2"), fingerprint.Different},
		{"another type", h, f, cty.NumberIntVal(1), fingerprint.Different},
		{"a slow one", h, slow, v, fingerprint.Different},
		{"none", h, fingerprint.Fingerprint{}, v, fingerprint.Incomparable},
		{"another salt", other, f, v, fingerprint.Incomparable},
	} {
		if got, err := c.by.CompareQuick(c.f, c.v); got != c.want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	if got, err := h.Compare(f, v); got != fingerprint.Different || err != nil {
		t.Errorf("got %v, %v of the slow comparison, want another value", got, err)
	}
	if f, err := fingerprint.New(nil, nil).Quick(v); !f.IsZero() || err != nil {
		t.Errorf("got %v, %v without a salt, want none", f, err)
	}
}
