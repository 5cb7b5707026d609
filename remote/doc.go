// Package remote works on other machines over SSH: it connects, by way of a proxy and a bastion host if need
// be, uploads files, and runs commands and scripts.
//
// Start reading at connection.go, which has the settings, then dial.go, which turns them into a Client.
//
// It imports nothing of this module. It must not know configuration, resources, values and their marks, or
// who is told what: it is given plain settings and hands back lines and errors. Since any setting may be a
// secret, an error has two texts, one of which tells nothing of the settings (see Public), passwords and keys
// have a type that cannot be printed, and what is uploaded never touches the local disk.
package remote
