// Package telemetry exports the spans of a run, and metrics made from them, in the way that the environment
// variables of OpenTelemetry ask for. Without these variables it exports nothing.
//
// Nothing waits for it: spans that the receiver does not take in time are dropped and counted, and Close
// waits for a bounded time. Nothing that goes wrong here fails a run.
//
// It may import bug, safefile and trace. It must not know the subjects of spans, and gets no values.
package telemetry
