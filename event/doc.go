// Package event describes what happens during a run, and delivers it to an observer in order. It begins in
// event.go with Event and Observer; a Reporter reports events, and its queue keeps a slow observer from
// holding up what is under way.
//
// It may import addr, diag and plan, for what events name. It must not know the engine: what renders events
// depends on this package alone, and so cannot reach the values of a run.
package event
