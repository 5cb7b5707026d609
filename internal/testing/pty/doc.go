// Package pty gives tests a terminal to run programs on, and shows their output there. It exists for Linux
// only.
//
// It may import golang.org/x/sys. It must not know which programs are tested.
package pty
