// Package atomicfile replaces small files at once: a reader never sees half of one.
//
// It may import nothing of this module. It must not know what the files hold.
package atomicfile
