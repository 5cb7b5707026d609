// Package blocks is the compiled configuration: blocks whose expressions are parsed, whose references are
// resolved, and which form a graph. It answers everything that can be known before a value is: what is wrong,
// what may be opened, what waits for what in a cycle.
//
// Every reference is an edge of the graph with a role, such as "in a condition" or "in depends_on" (see
// graph.go). Questions about the configuration as a whole are walks that choose roles.
//
// A new place for references in a block is an expression that compiler.go compiles and a role in the edges of
// the block's node. What evaluates it needs a line in computeOpens (opens.go), and in package eval in
// Instance.readSet for what it waits for and in Instance.Uses for what it claims.
//
// It may import addr, config, diag, lang, lang/marked, schema and value, and plan for the form of the graph
// that users see. It must not know runs, instances, values of objects, state or providers' processes: package
// eval adds those.
package blocks
