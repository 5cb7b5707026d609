// Package blocks is the compiled configuration: blocks whose expressions are parsed, whose references are
// resolved, and which form a graph. It answers every question that needs no values: which blocks are wrong,
// which resources may be opened, which blocks wait for each other in a cycle.
//
// Each block lists its expressions with their roles, such as "in a condition" (exprs.go). Every reference in
// them is an edge of the graph with that role, and so are references without an expression, as in depends_on
// (graph.go). Questions about the configuration as a whole are walks that choose roles.
//
// A new place for references in a block is an expression that compiler.go compiles, and a line with a role in
// the list of the block. In package eval, the objects that an object waits for and those that it claims come
// from the same list.
//
// It may import addr, config, diag, lang, lang/marked, schema and value, and plan for the form of the graph
// that users see. It must not know runs, instances, values of objects, state or providers' processes: package
// eval adds those.
package blocks
