// Package interop applies configurations with mayfly and plans them with OpenTofu, and the other way round:
// whichever engine made the objects, the other must find nothing to change, and be able to destroy them.
//
// It has tests only. They need other people's programs, which two environment variables name:
// MAYFLY_TEST_TOFU is an OpenTofu executable, and MAYFLY_TEST_MIRROR is a filesystem mirror with the
// providers random, null, time, tls and local of hashicorp. Without them the tests are skipped and say so.
// They may import packages for tests, and must not know any other package of this module.
package interop
