// Package clients drives the mayfly program with the libraries that other people's software uses for such programs: terraform-exec,
// terraform-json and terraform-plugin-testing.
//
// It has tests only. They may import those libraries, the provider keep, and package program that builds the binary. They must not know any
// other package of this module: a client sees the command line, the documents and the files.
package clients
