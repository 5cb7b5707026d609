package work

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
func Password() map[string]string { return files("password", details{Kind: Plugin}) }

// Secrets is n ephemeral instances, each used by one resource instance. Opening and closing one takes the
// given time each.
func Secrets(n, millis int) map[string]string {
	return files("secrets", details{Kind: Plugin, N: n, Millis: millis})
}

// Types is a configuration that uses n resource types of a provider that has many more.
func Types(n int) map[string]string { return files("types", details{Kind: Plugin, N: n}) }

// Opens is a resource and the configuration of a provider that both need the same n ephemeral instances,
// which take the given time each to open.
func Opens(n, millis int) map[string]string {
	return files("opens", details{Kind: Plugin, N: n, Millis: millis})
}
