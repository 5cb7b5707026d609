// Package processgroup ends a command together with the processes that it has started, as far as the system
// has means for that.
//
// It may import nothing of this module. It must not know the work of commands.
package processgroup
