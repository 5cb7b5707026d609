package fetch

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"github.com/acme/net":                          "git::https://github.com/acme/net.git",
		"github.com/acme/net//sub/dir?ref=v1":          "git::https://github.com/acme/net.git//sub/dir?ref=v1",
		"git@github.com:acme/net.git":                  "git::ssh://git@github.com/acme/net.git",
		"git@example.com:acme/net.git//s?ref=x":        "git::ssh://git@example.com/acme/net.git//s?ref=x",
		"bitbucket.org/acme/net":                       "git::https://bitbucket.org/acme/net.git",
		"bitbucket.org/acme/net//a/b?ref=v1":           "git::https://bitbucket.org/acme/net.git//a/b?ref=v1",
		"git::ssh://git@example.com/net.git?ref=v1":    "git::ssh://git@example.com/net.git?ref=v1",
		"git::https://example.com/net.git//s/":         "git::https://example.com/net.git//s",
		"https://example.com/net.zip//a/../b":          "https://example.com/net.zip//b",
		"https://example.com/net?archive=zip":          "https://example.com/net?archive=zip",
		"s3::https://s3.amazonaws.com/b/net.zip":       "s3::https://s3.amazonaws.com/b/net.zip",
		"bucket.s3.amazonaws.com/net.zip":              "s3::https://s3.amazonaws.com/bucket/net.zip",
		"b.s3.eu-west-1.amazonaws.com/x/net.zip//s":    "s3::https://s3.eu-west-1.amazonaws.com/b/x/net.zip//s",
		"b.s3-eu-west-1.amazonaws.com/n.zip?version=1": "s3::https://s3-eu-west-1.amazonaws.com/b/n.zip?version=1",
		"s3.amazonaws.com/b/net.zip":                   "s3::https://s3.amazonaws.com/b/net.zip",
		"github.com/acme/net/sub//dir?ref=v1":          "git::https://github.com/acme/net.git//sub/dir?ref=v1",
		"git::git@example.com:acme/net.git":            "git::ssh://git@example.com/acme/net.git",
		"www.googleapis.com/storage/v1/b/net.zip":      "gcs::https://www.googleapis.com/storage/v1/b/net.zip",
		"oci://example.com/net//s?tag=v1":              "oci://example.com/net//s?tag=v1",
		"/srv/modules/net":                             "file:///srv/modules/net",
	} {
		got, err := Parse(in)
		if err != nil || got.String() != want {
			t.Errorf("%s: %s, want %s; %v", in, got, want, err)
		}
	}
	for in, want := range map[string]string{
		"modules/net":                         "nothing can be downloaded from this address",
		"gitlab.com/acme/net":                 "nothing can be downloaded from this address",
		"hg::https://example.com/net":         `"hg" is not a supported way`,
		"ftp://example.com/net.zip":           `"ftp" is not a supported way`,
		"git::https://example.com/n//../../x": "points outside of the package",
		"bitbucket.org/acme":                  "bitbucket.org/NAME/REPOSITORY",
		"www.googleapis.com/storage/v1/b":     "gcs::https",
		"ec2.amazonaws.com/b":                 "s3::https",
		"oci:///net":                          "oci://REGISTRY/REPOSITORY",
		"":                                    "nothing can be downloaded from this address",
	} {
		if got, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestNothingSecretIsShown(t *testing.T) {
	for in, want := range map[string]string{
		"git::https://ann:pass@example.com/x.git//s?ref=v1": "git::https://REDACTED@example.com/x.git//s?ref=v1",
		"git::https://token@example.com/x.git":              "git::https://REDACTED@example.com/x.git",
		"git::ssh://git@example.com/x.git?sshkey=abc&ref=a": "git::ssh://git@example.com/x.git?sshkey=REDACTED&ref=a",
		"https://example.com/a.zip?X-Amz-Signature=abc":     "https://example.com/a.zip?X-Amz-Signature=REDACTED",
		"https://a:b@c@example.com/":                        "https://REDACTED@example.com/",
		"./local":                                           "./local",
		"git@example.com:acme/net.git":                      "git@example.com:acme/net.git",
	} {
		if got := Show(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	s := SecretsOf("git::https://ann:p%40ss%2Fword@example.com/x.git?token=Tok+en123")
	for _, text := range []string{"p%40ss%2Fword", "p@ss/word", "p%40ss%2fword", "p@ss%2Fword", `p@ss\/word`, "Tok+en123", "Tok en123", "Tok%20en123", "https://x:other@example.com/"} {
		if got := s.Hide("it is " + text + " here"); strings.Contains(got, text) {
			t.Errorf("%s is shown: %s", text, got)
		}
	}
}

func FuzzShow(f *testing.F) {
	f.Add("git::https://ann:Hunter2Hunter2@example.com/x.git?sshkey=Hunter2Hunter2&ref=v1")
	f.Fuzz(func(t *testing.T, rest string) {
		if strings.ContainsAny(rest, "/?#@&= ") {
			t.Skip("that is not within a host's name")
		}
		if got := Show("https://ann:Hunter2Hunter2@" + rest + "/x?key=Hunter2Hunter2"); strings.Contains(got, "Hunter2") {
			t.Errorf("shown: %s", got)
		}
		_, _ = Parse(rest)
	})
}
