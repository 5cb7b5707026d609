// Package shared measures many applies on one state in PostgreSQL, and plans of one change in a large one:
//
//	go test ./benchmarks/shared -v -runs 50 -resources 20 -delay 200ms -instances 100000 -timeout 2h
//	go test ./benchmarks/shared -v -runs 5 -backend pg -instances 100000 -timeout 2h
//	go test ./benchmarks/shared -v -run Latency -instances 10000 -roundtrips 1ms,10ms,50ms
//	go test ./benchmarks/shared -v -run Change -objects 1000000 -timeout 3h
//
// It has tests only, with small numbers by default. They may import the test provider, the server, the proxy,
// package program, and the configurations and the provider of the benchmarks. They must not know any other
// package of this module.
package shared
