// Package atomicfile replaces small files atomically: a reader never sees a part of one.
//
// It may import nothing of this module. It must not know what the files contain.
package atomicfile
