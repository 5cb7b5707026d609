// Package blockhash hashes the blocks of a compiled configuration, so that a later run can tell which of
// them are as they were without evaluating any (ADR 041).
//
// A hash covers everything that decides the block's value, apart from the objects that it reads: the block
// itself, the values, modules and provider configurations that it refers to, variables of the root module,
// files and versions of providers. Equal hashes and equal objects give equal values. A block has no hash if
// it looks at the world: its value may differ although nothing of this has changed.
//
// Expressions are hashed as syntax trees (expression.go), bodies as their schemas describe them (body.go),
// and settings one by one (content.go). The graph of blocks says whose hashes enter which (graph.go),
// cycles are hashed as one (set.go).
//
// It may import addr, component, config, blocks, lang, schema, value and HCL's and cty's packages. It must
// not know states, plans, runs or stores, and reads files through the functions of the language only.
package blockhash
