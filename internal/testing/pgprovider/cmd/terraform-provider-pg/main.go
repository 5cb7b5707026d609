// Command terraform-provider-pg is the provider of PostgreSQL for tests as a plugin program. It may import
// package pgprovider alone.
package main

import (
	"fmt"
	"os"

	"github.com/mayfly-iac/mayfly/internal/testing/pgprovider"
)

func main() {
	if err := pgprovider.Serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
