// Package bench tests the benchmarks: that they run an engine through every kind of work, and that the
// figures belong to the work.
//
// Its tests import the standard library and package program. They must not know the packages of the engine,
// nor the benchmarks' own.
package bench
