package state

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// testSealer turns bits around. Its errors are those of its methods.
type testSealer struct {
	clear               bool // nothing is encrypted
	seal, unseal, plain error
}

func (s testSealer) Seal(plain []byte) ([]byte, error) {
	if s.clear {
		return nil, s.seal
	}
	return turned(plain), s.seal
}

func (s testSealer) Unseal(sealed []byte) ([]byte, error) { return turned(sealed), s.unseal }

func (s testSealer) CheckPlain() error { return s.plain }

func turned(b []byte) []byte {
	out := bytes.Clone(b)
	for i := range out {
		out[i] ^= 0xff
	}
	return out
}

// TestSealedJournal writes a journal with each sealer and reads it with each.
func TestSealedJournal(t *testing.T) {
	errKey := errors.New("another key")
	write := func(s Sealer) []byte {
		file := &memLog{}
		l, err := NewLog(file, testFile().Meta, s)
		if err != nil {
			t.Fatal(err)
		}
		id, err := l.Begin(at("n", addr.NoKey), "create")
		if err == nil {
			err = l.Commit(id, ObjectChange{Object: at("n", addr.NoKey), Provider: testProvider, New: object(t, "CANARY-5e1d")})
		}
		mark, foldedErr := FoldedFrame(8, [32]byte{1}, s)
		if err := errors.Join(err, foldedErr); err != nil {
			t.Fatal(err)
		}
		return append(file.buf.Bytes(), mark...)
	}
	plain, sealed := write(nil), write(testSealer{})
	for _, text := range []string{"CANARY-5e1d", "commit", "folded"} {
		if bytes.Contains(sealed, []byte(text)) || !bytes.Contains(plain, []byte(text)) {
			t.Errorf("%s is in clear in the encrypted journal, or not in the other one", text)
		}
	}
	for _, test := range []struct {
		name   string
		text   []byte
		sealer Sealer
		want   error
	}{
		{"in clear", plain, nil, nil},
		{"in clear, by a sealer that does not encrypt", write(testSealer{clear: true}), nil, nil},
		{"in clear, with encryption that permits it", plain, testSealer{}, nil},
		{"in clear, with encryption that does not", plain, testSealer{plain: errKey}, errKey},
		{"encrypted", sealed, testSealer{plain: errKey}, nil},
		{"encrypted, without encryption", sealed, nil, ErrJournalSealed},
		{"encrypted with something else", sealed, testSealer{unseal: errKey}, errKey},
	} {
		j, err := ParseJournal(test.text, test.sealer)
		if !errors.Is(err, test.want) || test.want != nil && !errors.Is(err, ErrJournalSealed) {
			t.Errorf("%s: %v", test.name, err)
		}
		if test.want != nil {
			continue
		}
		r, err := j.Replay(testFile())
		if err != nil || r.Changes != 1 || !r.File.State.Object(at("n", addr.NoKey)).Equal(object(t, "CANARY-5e1d")) || j.Folded == nil {
			t.Errorf("%s: got %+v, %v, want one change, the object with the secret, and the folded state", test.name, r, err)
		}
	}
	header, _, _ := bytes.Cut(sealed, []byte{'\n'})
	forged := append(append(header, '\n'), frame([]byte(`"no base64"`))...)
	if _, err := ParseJournal(forged, testSealer{}); !errors.Is(err, ErrJournalCorrupt) {
		t.Errorf("what no sealer has written: %v", err)
	}
	for _, s := range []testSealer{{seal: errKey}, {seal: errKey, clear: true}} {
		file := &memLog{}
		l, err := NewLog(file, testFile().Meta, s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Begin(at("n", addr.NoKey), "create"); !errors.Is(err, errKey) || file.buf.Len() > 0 {
			t.Errorf("without encryption, %q is written: %v", file.buf.String(), err)
		}
		if _, err := FoldedFrame(8, [32]byte{1}, s); !errors.Is(err, errKey) {
			t.Errorf("the frame for a folded journal: %v", err)
		}
	}
}
