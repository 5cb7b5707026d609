// Package processgroup ends a command together with what the command has started, as far as the system has
// means for that.
//
// It may import nothing of this module. It must not know what commands are for.
package processgroup
