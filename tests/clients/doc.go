// Package clients drives the mayfly program with the libraries that other people's software uses for such
// programs: terraform-exec, terraform-json and terraform-plugin-testing.
//
// It has tests only. They may import those libraries, package program that builds the binary, and stand-ins
// for the world around it: the providers keep and simprovider, and the registries of registrytest. They must
// not know any other package of this module: a client sees the command line, the documents and the files.
package clients
