// Package login obtains tokens from hosts that have the service login.v1, using OAuth: with an
// authorization code, for which the user signs in with a browser, or with the user's name and password.
//
// Start reading at Code. A token is returned as a secret that is hidden from formatting. Errors never
// contain it: they name hosts, status codes and the error codes of the standard, but no other text from a
// server.
//
// It may import the CLI configuration, for its secrets, and package web, for displaying addresses. It must
// not know where tokens are stored, nor interact with the user.
package login
