// Package documents tests the machine-readable documents of the program as a whole: that they keep their
// recorded form, that the types clients use for them can read them, and that no ephemeral value is in one.
//
// The cases in testdata/cases serve the comparison with other engines too, which has found the recorded
// documents to be alike.
package documents
