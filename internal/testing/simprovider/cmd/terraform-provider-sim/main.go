// Command terraform-provider-sim is the test provider as a plugin binary. An engine starts it; the
// environment variables of package simprovider say how it behaves. It may import that package alone.
package main

import "github.com/mayfly-iac/mayfly/internal/testing/simprovider"

func main() { simprovider.ServeMain() }
