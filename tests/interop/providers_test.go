package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// providerCase is a provider of other people: what is made of it, what changes, and what can be imported from
// where.
type providerCase struct {
	name   string
	config string
	update map[string]string // old and new text, for the second apply
	want   string            // the counts of the second apply
	// imports are objects by address that are forgotten and imported by what the output of the same name,
	// dots being underscores, says.
	imports []string
}

var providerCases = []providerCase{
	{
		name: "random",
		config: `
resource "random_pet" "p" {
  keepers = { step = "1" }
  length  = 3
}
resource "random_password" "w" {
  length  = 20
  special = true
}
resource "random_integer" "i" {
  min = 1
  max = 9
}
resource "random_id" "d" {
  byte_length = 8
}
resource "random_uuid" "u" {}
resource "random_shuffle" "s" {
  input = ["a", "b", "c"]
}
ephemeral "random_password" "e" {
  length = 12
}
output "random_uuid_u" {
  value = random_uuid.u.id
}
output "random_id_d" {
  value = random_id.d.b64_url
}
output "password" {
  value     = random_password.w.result
  sensitive = true
}
`,
		update:  map[string]string{`step = "1"`: `step = "2"`},
		want:    "1 added, 0 changed, 1 destroyed",
		imports: []string{"random_uuid.u", "random_id.d"},
	},
	{
		name: "null",
		config: `
resource "null_resource" "n" {
  count    = 3
  triggers = { step = "1", at = count.index }
  provisioner "local-exec" {
    command = "echo made ${self.id}"
  }
}
data "null_data_source" "d" {
  inputs = { first = null_resource.n[0].id }
}
output "d" {
  value = data.null_data_source.d.outputs
}
`,
		update: map[string]string{`step = "1"`: `step = "2"`},
		want:   "3 added, 0 changed, 3 destroyed",
	},
	{
		name: "time",
		config: `
resource "time_static" "s" {
  triggers = {} # as an import brings it back
}
resource "time_offset" "o" {
  base_rfc3339 = time_static.s.rfc3339
  offset_days  = 1
}
resource "time_rotating" "r" {
  rotation_days = 30
}
resource "time_sleep" "z" {
  create_duration = "1s"
  triggers        = { o = time_offset.o.id }
}
output "time_static_s" {
  value = time_static.s.id
}
output "year" {
  value = provider::time::rfc3339_parse(time_static.s.rfc3339).year
}
terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}
`,
		update:  map[string]string{"offset_days  = 1": "offset_days  = 2"},
		want:    "0 added, 1 changed, 0 destroyed",
		imports: []string{"time_static.s"},
	},
	{
		name: "tls",
		config: `
resource "tls_private_key" "k" {
  algorithm = "ECDSA"
}
resource "tls_self_signed_cert" "c" {
  private_key_pem       = tls_private_key.k.private_key_pem
  validity_period_hours = 100
  allowed_uses          = ["digital_signature"]
  dns_names             = ["one.example"]
  subject {
    common_name = "example"
  }
}
data "tls_public_key" "p" {
  private_key_pem = tls_private_key.k.private_key_pem
}
data "tls_certificate" "c" {
  content = tls_self_signed_cert.c.cert_pem
}
output "subject" {
  value = data.tls_certificate.c.certificates[0].subject
}
`,
		update: map[string]string{"one.example": "two.example"},
		want:   "1 added, 0 changed, 1 destroyed",
	},
	{
		name: "local",
		config: `
resource "local_file" "f" {
  filename        = "${path.module}/out/f.txt"
  content         = "step 1"
  file_permission = "0600"
}
resource "local_sensitive_file" "s" {
  filename = "${path.module}/out/s.txt"
  content  = "hush"
}
data "local_file" "f" {
  filename = local_file.f.filename
}
output "f" {
  value = data.local_file.f.content
}
`,
		update: map[string]string{"step 1": "step 2"},
		want:   "1 added, 0 changed, 1 destroyed",
	},
}

func needMirror(t *testing.T) {
	t.Helper()
	if os.Getenv(envMirror) == "" {
		t.Skipf("there are no providers to run: set %s to a filesystem mirror with random, null, time, tls and local", envMirror)
	}
}

// TestProviders takes objects of real providers through their lives.
func TestProviders(t *testing.T) {
	needMirror(t)
	m := engine{"mayfly", binary}
	for _, c := range providerCases {
		t.Run(c.name, func(t *testing.T) {
			dir := filetest.Tree(t, map[string]string{"main.tf": c.config})
			m.apply(t, dir)
			m.unchanged(t, dir)
			c.importAgain(t, m, dir)
			text := c.config
			for from, to := range c.update {
				text = strings.ReplaceAll(text, from, to)
			}
			filetest.Lay(t, dir, map[string]string{"main.tf": text})
			if out := m.must(t, 0, dir, "apply", "-auto-approve", "-no-color"); !strings.Contains(out, c.want) {
				t.Errorf("the update should say %q:\n%s", c.want, out)
			}
			m.unchanged(t, dir)
			m.destroy(t, dir)
		})
	}
}

func (c *providerCase) importAgain(t *testing.T, m engine, dir string) {
	t.Helper()
	for _, address := range c.imports {
		id := m.must(t, 0, dir, "output", "-raw", strings.ReplaceAll(address, ".", "_"))
		m.must(t, 0, dir, "state", "rm", address)
		m.must(t, 0, dir, "import", address, id)
	}
	m.unchanged(t, dir)
}

// TestProvidersBetween lets the engines take turns with objects of real providers.
func TestProvidersBetween(t *testing.T) {
	needMirror(t)
	for _, c := range providerCases {
		t.Run(c.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, first, second engine) {
				dir := filetest.Tree(t, map[string]string{"main.tf": c.config})
				first.apply(t, dir)
				second.unchanged(t, dir)
				first.unchanged(t, dir)
				second.destroy(t, dir)
				if _, err := os.Stat(filepath.Join(dir, ".terraform.lock.hcl")); err != nil {
					t.Errorf("no lock file: %s", err)
				}
			})
		})
	}
}
