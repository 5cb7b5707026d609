// Package workdir is the working directory of a configuration, with everything that a run keeps in it or
// finds from it: the configuration and its installed modules and providers, the backend and the selected
// workspace, values of variables from all their sources, and saved plans. It does what the commands of the
// program do, as a library.
//
//	dir := workdir.New(workdir.Options{})
//	diags := dir.Load(ctx)
//	run, diags := dir.Begin(ctx, "plan", workdir.BeginOptions{})
//	defer run.Close()
//	planned, diags := run.Operation.Plan(ctx, mayfly.PlanOptions{Variables: run.Variables})
//	diags = run.Save(planned, "tfplan")
//
// Start reading at Dir, then at its parts: Backend, where the states are, Packages, which are installed,
// Variables, which are given values, and Plans, which are saved. Session is a run in the directory. The table
// of the places that keep states is in package backend.
//
// The working directory is the process's, because the providers and provisioners that it starts resolve
// relative paths against theirs. To work elsewhere, change to it first.
//
// The package may import the library, install, and their dependencies. It must not know command lines,
// terminals or how anything is shown: it returns diagnostics, and asks through an Asker.
package workdir
