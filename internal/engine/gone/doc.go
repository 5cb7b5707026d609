// Package gone answers for objects of the state whether the configuration still declares them, and which
// dependencies it declares for them, and reports those that a plan forgets.
//
// It may import the evaluator and the model of plans. It must not know how objects are planned: it is given a
// run to evaluate in.
package gone
