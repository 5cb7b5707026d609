// Package secretscan finds secrets in what a program leaves behind and prints, for tests. A secret is found
// verbatim, as a document or message may escape or encode it, and within archives and compressed files.
//
// It imports the standard library only. It must not know what the secrets are, nor which programs are tested.
package secretscan
