package script

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"
)

func TestFindSecret(t *testing.T) {
	const secret = "correct horse"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte(secret), 50)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text string
		want bool
	}{
		"nothing":   {"a correct answer from a horse", false},
		"verbatim":  {"the correct horse.", true},
		"base64":    {base64.StdEncoding.EncodeToString([]byte("x" + secret + "yz")), true},
		"base64, 2": {base64.StdEncoding.EncodeToString([]byte("xy" + secret)), true},
		"base64, 0": {base64.StdEncoding.EncodeToString([]byte(secret)), true},
		"hex":       {hex.EncodeToString([]byte("-" + secret)), true},
		"URL":       {"?p=correct+horse", true},
		"zip":       {packed.String(), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := findSecret([]byte(test.text), secret); (got != "") != test.want {
				t.Errorf("found %q", got)
			}
		})
	}
}
