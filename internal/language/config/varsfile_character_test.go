package config

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The text of a file of values is covered where it may be secret, so errors name the character that is wrong.
func TestWrongCharacterInValuesFile(t *testing.T) {
	for text, want := range map[string]string{
		"secret = hush§hush\n":  "The character is U+00A7, '§', in column 14.",
		"secret = “hush”\n":     "The character is U+201C, '“', in column 10.",
		"secret = \u200bhush\n": `The character is U+200B, '\u200b', in column 10.`,
	} {
		fsys := fstest.MapFS{"v.tfvars": {Data: []byte(text)}}
		for kind, read := range map[string]func() string{
			"variables": func() string {
				_, diags := LoadVarsFile(fsys, "v.tfvars", map[string]*Variable{"secret": {Name: "secret", Sensitive: true}})
				return diags.Err().Error() + string(diags[0].Source)
			},
			"backend": func() string {
				_, _, diags := LoadBackendFile(fsys, "v.tfvars", nil)
				return diags.Err().Error() + string(diags[0].Source)
			},
		} {
			if got := read(); !strings.Contains(got, want) || strings.Contains(got, "hush") {
				t.Errorf("%s, %q: got %q, want %q", kind, text, got, want)
			}
		}
	}
}
