// Package view turns plans, states, diagnostics and events into text for people, and a run into a stream of
// JSON messages.
//
// Entry points for people: Diagnostics, Plan, PlanFooter, State, StateInstance, Outputs,
// OutputRaw, FormatValue, ApplySummary, HumanObserver and Status (each an event.Observer). For programs:
// JSONStream (an event.Observer). Documents as a whole are package document's.
//
// A plan and a state are shown by the same means: a differ compares the values of two sides, or of one with
// itself, and builds a tree of nodes (node.go); a writer turns the tree into text (writer.go). Text that
// comes from elsewhere is quoted, or passes visible or tame (paint.go), on its way to a terminal.
//
// Everything is a function of its arguments: the package reads no files, no environment and no terminal, and
// rendering costs time linear in the size of the data. Sensitive values are masked in text for people unless
// Options.ShowSensitive is set. Ephemeral values never arrive here except inside the evaluation context of a
// diagnostic, where they are redacted always (E24).
//
// It may import the data models below the engine, and event. It must not know the engine, commands, flags,
// backends or processes.
package view

import "cmp"

// Options steer the rendering for people. The zero value is for text that goes to no terminal.
type Options struct {
	Program         string // its name in sentences; "" for its own name
	Command         string // its name in commands to run; "" for its own name
	Color           bool   // use terminal escape codes
	Width           int    // columns to wrap at; 0 for no wrapping
	KeepCommands    bool   // commands to run are not broken where lines are
	ShowSensitive   bool   // show sensitive values instead of a placeholder
	StatusLine      bool   // a line at the bottom shows the work under way
	Concise         bool   // leave out the lines about work under way
	CompactWarnings bool   // warnings as one line each, if there are no errors
	Fold            bool   // of many changes that are alike, show the first and a line about the others

	ListWarnings      bool // each warning for itself, also if others are like it
	ConsolidateErrors bool // errors that are alike as one
}

// program returns the name of the program in sentences.
func (o Options) program() string { return cmp.Or(o.Program, "Mayfly") }

// command returns the name of the program in commands to run.
func (o Options) command() string { return cmp.Or(o.Command, "mayfly") }
