package work

import "fmt"

// Plugin is the resource type of the provider in package provider, served as a plugin.
var Plugin = Kind{
	Name: "plugin", Type: "bench_thing",
	Header: required, Module: required,
}

const required = `terraform {
  required_providers {
    bench = {
      source = "mayfly.dev/test/bench"
    }
  }
}
`

// Password is a run of about seven seconds, in the middle of which a password is needed for one second. The
// provider tells how long it was open.
func Password() map[string]string {
	return root(Plugin, `
ephemeral "bench_secret" "password" {
  name = "password"
}
resource "bench_thing" "before" {
  input  = "before"
  millis = 3000
}
resource "bench_thing" "needs" {
  input          = bench_thing.before.output
  millis         = 1000
  secret_wo      = ephemeral.bench_secret.password.value
  secret_version = 1
}
resource "bench_thing" "after" {
  input  = bench_thing.needs.output
  millis = 3000
}
`)
}

// Secrets is n ephemeral instances, each used by one resource instance. Opening and closing one takes the
// given time each.
func Secrets(n, millis int) map[string]string {
	return root(Plugin, `
ephemeral "bench_secret" "s" {
  count  = %[1]d
  name   = "s${count.index}"
  millis = %[2]d
}
resource "bench_thing" "r" {
  count          = %[1]d
  input          = "r${count.index}"
  secret_wo      = ephemeral.bench_secret.s[count.index].value
  secret_version = 1
}
`, n, millis)
}

// Types is a configuration that uses n resource types of a provider that has many more.
func Types(n int) map[string]string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("resource \"bench_type%d\" \"r\" {\n  name = \"r%d\"\n}\n", i, i)
	}
	return root(Plugin, "%s", text)
}
