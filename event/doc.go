// Package event describes the events of a run, and delivers them to an observer in order. It begins in
// event.go with Event and Observer; a Reporter reports events, and its queue keeps a slow observer from
// delaying work under way.
//
// It may import addr, diag and plan, for the objects that events name. It must not know the engine: code that
// renders events depends on this package alone, and so cannot reach the values of a run.
package event
