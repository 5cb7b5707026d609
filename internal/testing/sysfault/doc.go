// Package sysfault runs a program and decides about each of its system calls that changes a file or sends
// something, or about each that reads or closes a file: the call takes place, fails, or is the last thing
// that the program does. So tests see the whole program meet a full disk or a power cut at each place where
// one can happen, and in the same order each time.
//
// It uses the notifications of seccomp(2) and works on Linux only. It may import nothing of this module. It
// must not know the program.
package sysfault

import "io/fs"

// Call is a system call that the program is about to make.
type Call struct {
	Name string // as in the manual, such as "fsync"
	// Path is the file or directory: absolute, or as the program gave it. Of a rename or link it is the new
	// name. Anything but a file, such as a socket, has a name with a colon, as in /proc/PID/fd.
	Path string
	// Synced is the file of fsync and fdatasync: that under Path may be another one by now.
	Synced fs.FileInfo
}
