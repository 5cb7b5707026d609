package web

import (
	"net/url"
	"testing"
)

func TestBelow(t *testing.T) {
	for base, want := range map[string]string{
		"https://a.example/v1/providers":         "https://a.example/v1/providers/n%2Fs/type",
		"https://a.example/v1/providers/":        "https://a.example/v1/providers/n%2Fs/type",
		"https://a.example/v1//providers//":      "https://a.example/v1//providers//n%2Fs/type",
		"https://a.example/v1/../x%2Fy/":         "https://a.example/v1/../x%2Fy/n%2Fs/type",
		"https://a.example":                      "https://a.example/n%2Fs/type",
		"https://a.example/cache?registry=other": "https://a.example/cache/n%2Fs/type?registry=other",
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		if got := Below(u, "n/s", "type").String(); got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
		if u.String() != base {
			t.Errorf("base after resolving: got %s, want %s", u, base)
		}
	}
}
