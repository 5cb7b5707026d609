package aws

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestKMS checks requests against a server that speaks the JSON protocol and verifies signatures.
func TestKMS(t *testing.T) {
	isolate(t)
	status, refusal := http.StatusOK, ""
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, r.Header.Get("X-Amz-Target")+" "+string(body))
		if want := signature(r, "eu-west-1", "kms"); !strings.HasSuffix(r.Header.Get("Authorization"), "Signature="+want) {
			t.Errorf("%s, want %s", r.Header.Get("Authorization"), want)
		}
		if w.WriteHeader(status); status != http.StatusOK {
			fmt.Fprint(w, refusal)
			return
		}
		fmt.Fprint(w, `{"CiphertextBlob":"d3JhcHBlZA==","Plaintext":"a2V5","KeyId":"arn:k"}`)
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_KMS", server.URL)
	a, err := Load(t.Context(), Settings{Region: "eu-west-1"}, once)
	if err != nil {
		t.Fatal(err)
	}
	k, err := a.KMS(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	plain, wrapped, err := k.GenerateDataKey(t.Context(), "k", "AES_256", map[string]string{"b": "c"})
	if string(plain) != "key" || string(wrapped) != "wrapped" || err != nil {
		t.Errorf("GenerateDataKey: got %q, %q, %v, want \"key\", \"wrapped\"", plain, wrapped, err)
	}
	if plain, err = k.Decrypt(t.Context(), "k", wrapped, nil); string(plain) != "key" || err != nil {
		t.Errorf("Decrypt: got %q, %v, want \"key\"", plain, err)
	}
	want := `TrentService.GenerateDataKey {"KeyId":"k","KeySpec":"AES_256","EncryptionContext":{"b":"c"}}|TrentService.Decrypt {"KeyId":"k","CiphertextBlob":"d3JhcHBlZA=="}`
	if got := strings.Join(seen, "|"); got != want {
		t.Error(got)
	}
	for _, c := range []struct{ refusal, want string }{
		{`{"__type":"AccessDeniedException","message":"not allowed"}`, "AccessDeniedException: not allowed"},
		{`{"__type":"com.amazonaws#ExpiredTokenException","message":"expired"}`, "ExpiredTokenException: expired. Renew the credentials"},
		{`{"__type":"NotFoundException"}`, "check kms_key_id and region"},
		{`<html>`, "400 Bad Request"},
	} {
		status, refusal = http.StatusBadRequest, c.refusal
		if _, err := k.Decrypt(t.Context(), "k", wrapped, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestRegionalAddresses(t *testing.T) {
	isolate(t)
	for region, want := range map[string]string{
		"eu-west-1": "https://kms.eu-west-1.amazonaws.com/", "cn-north-1": "https://kms.cn-north-1.amazonaws.com.cn/", "us-isob-east-1": "https://kms.us-isob-east-1.sc2s.sgov.gov/",
	} {
		a, err := Load(t.Context(), Settings{Region: region}, once)
		if err != nil {
			t.Fatal(err)
		}
		if k, err := a.KMS(t.Context(), ""); err != nil || k.address != want {
			t.Errorf("%s, %v; want %s", k.address, err, want)
		}
	}
}
