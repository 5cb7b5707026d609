// Package marked rewrites compiled expressions so that evaluating them keeps every mark, stays within the
// bounds of package bounds, and takes linear time.
//
// HCL loses marks in places where they matter for ephemerality: of the branch of a conditional that was not
// taken, of an unknown result of a loop, of the key of an index. A value that has lost its mark could be
// stored. Wrapping those expressions keeps the rule in one place: no caller has to remember it.
//
// The package knows HCL, cty, the marks and the signatures of the built-in functions. It must not know
// blocks, modules or resources: to it, a reference is a traversal.
package marked
