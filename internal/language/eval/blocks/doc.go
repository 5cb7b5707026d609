// Package blocks is the compiled configuration: blocks whose expressions are parsed, whose references are
// resolved, and which form a graph. It answers everything that can be known before a value is: what is wrong,
// what may be opened, what waits for what in a cycle.
//
// Each block lists its expressions with their roles, such as "in a condition" (exprs.go). Every reference in
// them is an edge of the graph with that role, and so are those without an expression, as in depends_on
// (graph.go). Questions about the configuration as a whole are walks that choose roles.
//
// A new place for references in a block is an expression that compiler.go compiles, and a line with a role in
// the list of the block. In package eval, what an object waits for and what it claims come from the same
// list.
//
// It may import addr, config, diag, lang, lang/marked, schema and value, and plan for the form of the graph
// that users see. It must not know runs, instances, values of objects, state or providers' processes: package
// eval adds those.
package blocks
