// Package usage says how the commands are used: their help, the text about a command line that could not be
// understood, and the text of an option in help and completion.
//
// It reads the table of commands, where the text of an option is written once. It may import package diag,
// for similar names. It must not know the work of commands.
package usage
