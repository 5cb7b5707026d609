// Package secretscan finds secrets in the files and the output of a program, for tests. A secret is found
// verbatim, as a document or message may escape or encode it, and within archives and compressed files.
//
// It imports the standard library only. It must not know the origin of secrets, nor which programs are
// tested.
package secretscan
