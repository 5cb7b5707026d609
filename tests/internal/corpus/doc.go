// Package corpus reads, runs and records small configurations that two engines judge: whether they accept
// one, and where they find something wrong with it.
//
// It imports no package of this module: programs are seen from outside. It has no opinion on which engine is
// right; that is recorded with the cases.
package corpus
