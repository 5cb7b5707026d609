// Package term is the program's side of its terminal, and of the pipes and files that stand in for one: its
// output must neither be torn apart nor delay the program when nothing reads it, and its input may come from
// a person.
//
// Start reading at Outlet, through which everything is written, and Prompt, which asks. Bottom and Bars draw
// the status below the text; Lines reads the lines of a dialogue.
//
// It may import nothing of this module. It must not know commands, options, plans or diagnostics: it writes
// text, and draws the status that it is given.
package term
