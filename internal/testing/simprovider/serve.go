package simprovider

import (
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// The cookie that an engine sets only for plugins that it starts.
const (
	cookieKey   = "TF_PLUGIN_MAGIC_COOKIE"
	cookieValue = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
)

// Serving reports whether an engine started this process as a plugin and SIM_SERVE makes test binaries this
// provider. A TestMain calls it first. The engine itself may run with SIM_SERVE in its environment, for its
// children.
func Serving() bool {
	return os.Getenv(simcloud.EnvServe) != "" && os.Getenv(cookieKey) == cookieValue
}

// ServeMain is the main function of the provider: it serves until the engine ends it, and does not return.
// Errors in the environment are reported on standard error with exit status 2.
func ServeMain() {
	if err := serveEnv(); err != nil {
		fmt.Fprintf(realStderr, "simprovider: %s\n", err)
		os.Exit(2)
	}
	os.Exit(0)
}

func serveEnv() error {
	o, err := FromEnv()
	if err != nil {
		return err
	}
	o.Clock = machineClock
	protocol, number := os.Getenv(simcloud.EnvProtocol), 6
	switch protocol {
	case "", "6":
	case "5":
		number = 5
	default:
		return fmt.Errorf("%s is %q; it must be 5 or 6", simcloud.EnvProtocol, protocol)
	}
	c, err := newCore(o, number)
	if err != nil {
		return err
	}
	if err := c.start(); err != nil {
		return err
	}
	if number == 6 {
		return tf6server.Serve(simcloud.Source, func() tfprotov6.ProviderServer { return upgraded(c) })
	}
	s, err := downgraded(o, c)
	if err != nil {
		return err
	}
	return tf5server.Serve(simcloud.Source, func() tfprotov5.ProviderServer { return s })
}

// start carries out the rules for the time before the handshake.
func (c *core) start() error {
	rules, err := c.rules.match(simlog.Entry{RPC: startRPC})
	if err != nil {
		return err
	}
	for _, r := range rules {
		switch r.Do {
		case doGarbageOut:
			fmt.Fprint(os.Stdout, r.message("\x00\xff this is not a handshake\n"))
		case doWrongProto:
			fmt.Fprintln(os.Stdout, "1|4|unix|/nonexistent/sim.sock|grpc|")
		case doHang:
			time.Sleep(r.pause(hangForever))
		case doDelay:
			time.Sleep(r.pause(lateByDefault))
		case doStderr:
			fmt.Fprintln(realStderr, r.message("a line on the provider's standard error"))
		case doExit, doPanic:
			c.crash(r)
		}
	}
	return nil
}
