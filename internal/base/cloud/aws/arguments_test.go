package aws

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// block has the arguments of a test by name: texts, flags, lists and blocks.
type block map[string]any

func (b block) Text(name string) string {
	text, _ := b[name].(string)
	return text
}

func (b block) Flag(name string) bool {
	on, _ := b[name].(bool)
	return on
}

func (b block) Texts(name string) []string {
	list, _ := b[name].([]string)
	return list
}

func (b block) TextMap(name string) map[string]string {
	m, _ := b[name].(map[string]string)
	return m
}

func (b block) Object(name string) Arguments {
	if inner, ok := b[name].(block); ok {
		return inner
	}
	return nil
}

func TestSettingsOf(t *testing.T) {
	s, err := SettingsOf(block{
		"region": "r", "access_key": "id", "secret_key": "secret", "token": "t", "use_fips_endpoint": true, "skip_metadata_api_check": true,
		"assume_role": block{"role_arn": "arn", "duration": "15m", "policy_arns": []string{"p"}, "tags": map[string]string{"a": "b"}},
	}, "https://sts.example")
	if err != nil {
		t.Fatal(err)
	}
	if *s.Keys != (Keys{"id", "secret", "t"}) || !s.FIPS || s.DualStack || !s.NoMetadata || s.Region != "r" {
		t.Errorf("settings: got %+v, want the keys, FIPS, region r, and no metadata", s)
	}
	if r := s.Role; r.ARN != "arn" || r.Duration != 15*time.Minute || r.Policies[0] != "p" || r.Tags["a"] != "b" || r.Server != "https://sts.example" {
		t.Errorf("role: got %+v, want arn for 15m with its policy, tag and server", r)
	}
	s, err = SettingsOf(block{"assume_role": block{"role_arn": "a"}, "assume_role_with_web_identity": block{"role_arn": "w", "web_identity_token": "t"}}, "")
	if err != nil || s.Role.ARN != "w" || s.Role.Token != "t" || s.Keys != nil {
		t.Errorf("role: got %+v, %v, want w with its token, and no keys", s.Role, err)
	}
	for want, b := range map[string]block{
		`"secret_key"`: {"access_key": "c4nary"}, "duration": {"assume_role": block{"duration": "c4nary"}},
	} {
		if _, err := SettingsOf(b, ""); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "c4nary") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTransportOf(t *testing.T) {
	if own, err := TransportOf(block{}, "x"); own != nil || err != nil {
		t.Errorf("without arguments: %v, %v", own, err)
	}
	if _, err := TransportOf(block{"custom_ca_bundle": "nowhere"}, ""); err == nil || !strings.Contains(err.Error(), `"custom_ca_bundle"`) {
		t.Errorf("certificates that are not there: %v", err)
	}
	own, err := TransportOf(block{"https_proxy": "http://proxy.example:3128", "insecure": true}, "internal.example, .other.example")
	if err != nil || !own.TLSClientConfig.InsecureSkipVerify {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"https://a.example": "http://proxy.example:3128", "http://a.example": "", "https://internal.example": "", "https://a.other.example": "", "https://notinternal.example": "http://proxy.example:3128",
	} {
		r, _ := http.NewRequest(http.MethodGet, address, nil)
		u, err := own.Proxy(r)
		if err != nil || u == nil && want != "" || u != nil && u.String() != want {
			t.Errorf("%s goes to %v, want %q (%v)", address, u, want, err)
		}
	}
}
