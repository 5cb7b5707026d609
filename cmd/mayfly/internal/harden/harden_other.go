//go:build !unix && !windows

package harden

func protect() {}
