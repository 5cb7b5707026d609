// Package ssh works on other machines over SSH: it connects, through a proxy and a bastion host if
// necessary, uploads files, and runs commands and scripts.
//
// Start reading at connection.go, which has the settings, then dial.go, which turns them into a Client.
//
// It imports nothing of this module. It must not know configuration, resources, marked values, or who reads
// its output: it takes plain settings and returns lines and errors. Any setting may be a secret. Therefore
// an error has two texts, one of which reveals no settings (see Public), passwords and keys have a type
// that cannot be printed, and uploads never use the local disk.
package ssh
