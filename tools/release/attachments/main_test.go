package main

import (
	"bytes"
	"testing"
)

// TestLicences finds the text of a licence for each linked module, and that of Go.
func TestLicences(t *testing.T) {
	text, err := licences()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo, LICENSE\n", "The Go Authors", "\ngithub.com/hashicorp/hcl/v2 v", "Mozilla Public License, version 2.0", "Apache License"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is missing", want)
		}
	}
	again, err := licences()
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("licences, called twice: got %d bytes, %v, want the same %d bytes", len(again), err, len(text))
	}
}
