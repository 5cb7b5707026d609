// Package format rewrites configuration files of the native syntax in the standard style: indentation,
// alignment, and some old spellings.
//
// It may import config and diag. It must not know files, modules or the meaning of a configuration: it
// converts bytes to bytes.
package format
