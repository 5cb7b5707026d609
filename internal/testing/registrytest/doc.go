// Package registrytest provides a registry of providers and modules, a network mirror and a registry of OCI
// artifacts in one server, for tests of their clients. It uses TLS and misbehaves on request.
//
// Start reading at Start. It may import no package of the module: it would share the mistakes of the
// packages it tests.
package registrytest
