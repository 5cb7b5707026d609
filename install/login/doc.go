// Package login obtains tokens from hosts that have the service login.v1, by OAuth: with an authorization
// code, for which the person signs in with a browser, or with the person's name and password.
//
// Start reading at Code. A token is handed out as a secret that hides from formatting. It is in no error:
// those name hosts, status codes and the error codes of the standard, not what else a server says.
//
// It may import the CLI configuration, for its secrets, and package web for what may be shown of addresses.
// It must not know where tokens are kept, nor talk to the person.
package login
