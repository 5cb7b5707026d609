// Package web makes the HTTP requests of installations: with retries, time limits, bounded responses, and
// redirects that drop credentials.
//
// Start reading at Client. Its errors name the server and the path, but no other part of an address, such
// as a password or a key in the query.
//
// It may import third-party HTTP clients only. It must not know any registry's protocol, nor the content of
// downloads.
package web
