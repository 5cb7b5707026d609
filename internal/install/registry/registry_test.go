package registry

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

var (
	sumA = strings.Repeat("a", 64)
	sumB = strings.Repeat("b", 64)
)

func described(filename, shasum string) *description {
	return &description{Filename: filename, Shasum: shasum, sumsURL: &url.URL{Scheme: "https", Host: "example.com", RawQuery: "key=s3cr3t"}}
}

func TestTake(t *testing.T) {
	for name, tc := range map[string]struct {
		sums, shasum string
		want         string // a part of the error
		all          int
	}{
		"text mode":     {sums: sumA + "  f.zip\n" + sumB + "  g.zip\n", shasum: sumA, all: 2},
		"binary mode":   {sums: sumA + " *f.zip\n", all: 1},
		"capitals":      {sums: strings.ToUpper(sumA) + "  f.zip\r\n", shasum: sumA, all: 1},
		"other files":   {sums: sumB + "  f.zip.sig\n" + sumA + "  f.zip", all: 2},
		"rubbish":       {sums: "# sums\n\nshort  f.zip\n" + sumA + "  f.zip\n" + sumB + "\n", all: 1},
		"short":         {sums: strings.Repeat("a", 63) + "  f.zip\n", want: "have none for the file"},
		"no digits":     {sums: strings.Repeat("g", 64) + "  f.zip\n", want: "have none for the file"},
		"not listed":    {sums: sumA + "  g.zip\n", want: `have none for the file "f.zip"`},
		"contradiction": {sums: sumA + "  f.zip\n", shasum: sumB, want: "the registry gives the checksum"},
		"empty":         {want: "have none for the file"},
	} {
		t.Run(name, func(t *testing.T) {
			var a Archive
			err := a.take([]byte(tc.sums), described("f.zip", tc.shasum))
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || a.Hash() != lockfile.Hash("zh:"+sumA) || len(a.Sums) != tc.all {
				t.Errorf("got %+v, %v, want the checksum zh:%s, among %d", a, err, sumA, tc.all)
			}
		})
	}
}

func TestSpeaks(t *testing.T) {
	for text, want := range map[string]bool{"": true, "5.0": true, "4.0 6.2": true, "4.0": false, "7": false, "50.1": false, "5": true} {
		if got := speaks(strings.Fields(text)); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

func FuzzTake(f *testing.F) {
	f.Add(sumA+"  f.zip\n", "f.zip", sumA)
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, sums, filename, shasum string) {
		var a Archive
		if err := a.take([]byte(sums), described(filename, shasum)); err == nil && (!slices.Contains(a.Sums, a.Hash()) || !isSum(a.sum)) {
			t.Errorf("%+v", a)
		}
	})
}
