// Package registrytest is a registry of providers and modules, a network mirror and a registry of OCI
// artifacts in one server, for tests of what asks them. It speaks TLS and misbehaves on request.
//
// Start reading at Start. It may import no package of the module: it would share the mistakes of those that
// it tests.
package registrytest
