// Package rules has scripts that show each rule of ephemerality with the whole program.
//
// It has tests only. They run the program that the tests of cmd/mayfly contain, which also checks by its
// schema whatever it writes as JSON. They may import package script. They must not know any other package of
// this module: a rule holds for the output of commands and for the files that they leave.
package rules
