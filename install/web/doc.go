// Package web makes the HTTP requests of installations: with retries, time limits, bounded answers, and
// redirects that leave credentials behind.
//
// Start reading at Client. Its errors name the server and the path, and never what else an address may hold:
// a password or a key in the query.
//
// It may import third-party HTTP clients only. It must not know any registry's protocol, nor what is
// downloaded.
package web
