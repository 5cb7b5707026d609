package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// randomText returns n bytes as base64.
func randomText(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

func inPEM(text string) string {
	return "-----BEGIN PRIVATE KEY-----\n" + inLinesOf(text, 64, "\n") + "\n-----END PRIVATE KEY-----\n"
}

// usualSecrets are values as ephemeral resources return them.
func usualSecrets(r *rand.Rand) map[string]string {
	document, err := json.MarshalIndent(map[string]string{
		"type": "service_account", "project_id": "mayfly-17", "private_key_id": fmt.Sprintf("%x", r.Uint64()), "private_key": inPEM(randomText(r, 1700)),
		"client_email": "mayfly@mayfly-17.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"token": "hvs." + strings.Trim(randomText(r, 24), "="), "password": `x9$K&<q "7'z%Lm/+`, "key": inPEM(randomText(r, 1700)), "document": string(document),
	}
}

func BenchmarkRemember(b *testing.B) {
	for name, secret := range usualSecrets(rand.New(rand.NewPCG(1, 2))) {
		b.Run(name, func(b *testing.B) {
			v := cty.StringVal(secret).Mark(value.Sensitive)
			n := 0
			for b.Loop() {
				g := New()
				g.Remember(token, v, cty.String)
				n = 0
				for _, fs := range g.starts {
					n += len(fs)
				}
			}
			b.ReportMetric(float64(n), "forms")
		})
	}
}

// BenchmarkFind searches documents that have no value, with few and with many values remembered.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	object := "    {\n      \"id\": \"i-%016x\",\n      \"user_data\": \"#cloud-config\\nusers:\\n  - name: web\\n\",\n      \"tags\": {\"name\": \"web server\", \"stage\": \"production\"}\n    },\n"
	var objects, keys bytes.Buffer
	for objects.Len() < 1<<20 {
		fmt.Fprintf(&objects, object, r.Uint64())
		keys.WriteString(inPEM(randomText(r, 1700)))
	}
	for _, n := range []int{1, 30, 1000} {
		g := New()
		for range n {
			for _, secret := range usualSecrets(r) {
				if n < 1000 || len(secret) < 100 {
					g.Remember(token, cty.StringVal(secret).Mark(value.Sensitive), cty.String)
				}
			}
		}
		for name, doc := range map[string][]byte{"objects": objects.Bytes(), "keys": keys.Bytes()} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				for b.Loop() {
					if _, found := g.RedactDocument(doc); found {
						b.Fatal("found something")
					}
				}
			})
		}
	}
}
