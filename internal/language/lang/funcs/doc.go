// Package funcs is the function table of the language: every function that an expression may call without
// naming a provider.
//
// It takes a function from cty's standard library, HCL's extensions, go-cty-funcs or go-cty-yaml wherever one
// behaves as documented, and holds its own only for the rest. Every function passes through a guard that
// keeps marks on unknown results and keeps sensitive and ephemeral values out of error messages.
//
// It may import value, cty, HCL and the libraries that do the work. It must not know configuration, state,
// plans or providers, and it reads nothing but the files that an expression names.
package funcs
