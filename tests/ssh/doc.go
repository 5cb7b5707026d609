// Package ssh runs the provisioners file and remote-exec of the mayfly program against real SSH servers:
// Debian's sshd, which the tests start on free ports of this machine with keys and settings of their own, and
// a server within the test where sshd would want accounts of the system.
//
// It has tests only, for Unix. They may import the test provider, its transcript, package program, and SSH
// libraries for keys and servers. They must not know any other package of this module: they look at the
// output of the program, and at the files on the host and here.
package ssh
