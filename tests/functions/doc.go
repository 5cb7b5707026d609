// Package functions evaluates a table of expressions, which call every function with arguments of all kinds,
// and compares the outcomes with OpenTofu's, which are in the table as well.
//
// It has tests only. Package interop records the table. They may import the packages that a console needs.
package functions
