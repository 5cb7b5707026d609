// Package doctor checks the dependencies of a run in a directory: the CLI configuration, the places that
// packages come from, proxies, credentials, the backend, installed modules and providers. Each finding that
// is a problem has a way out.
//
// Start reading at Examine. It changes nothing, asks nothing, and reveals no token, password or argument.
//
// It may import the working directory, the installer with its parts, and view for the colours of its text. It
// must not know plans, providers that run, or the command line.
package doctor
