// Package format puts configuration files of the native syntax into the standard style: indentation and
// alignment, and a few spellings of old that have a plain one.
//
// It may import config and diag. It must not know files, modules or what a configuration means: bytes go in
// and bytes come out.
package format
