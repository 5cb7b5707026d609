// Package telemetry exports the spans of a run, and metrics made from them, in the way that the environment
// variables of OpenTelemetry ask for. Without these variables there is none of it.
//
// Nothing waits for it: what the receiver does not take in time is dropped and counted, and Close waits for a
// bounded time. Nothing that goes wrong here fails a run.
//
// It may import bug, safefile and trace. It must not know what spans are about, and gets no values.
package telemetry
