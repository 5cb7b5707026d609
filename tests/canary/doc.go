// Package canary searches everything that commands leave behind and print for ephemeral values. A test plants
// a random value, a canary, in each source of ephemeral values, runs the program through a table of commands
// and endings, and searches all bytes after each: files, output, logs, the environment of child processes,
// and the data in servers of remote states. A second test introduces leaks on purpose, and expects each to be
// found.
//
// Not all rows run by default. With MAYFLY_TEST_CANARIES=all they do, against all servers, and once more
// without the leak guard, which could hide that a wall before it has a hole.
//
// It has tests only, for Unix. They may import the test provider, its transcript, the servers of
// tests/internal and internal/testing/postgres, and packages program, filetest and secretscan. They must not
// know any other package of this module: they look from outside.
package canary
