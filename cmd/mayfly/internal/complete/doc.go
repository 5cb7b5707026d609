// Package complete completes command lines for the shells: commands, options and their values, addresses and
// workspaces.
//
// It reads the table of commands and, through Directory, names. It may import package usage for the texts of
// options. It must not know the work of commands.
package complete
