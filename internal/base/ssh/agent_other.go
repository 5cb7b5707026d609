//go:build !windows

package ssh

import (
	"io"
	"net"

	"golang.org/x/crypto/ssh/agent"
)

// agentAvailable reports whether an agent was announced. It may have ended since.
func agentAvailable(socket string) bool { return socket != "" }

// dialAgent connects to the agent at a socket.
func dialAgent(socket string) (agent.Agent, io.Closer, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, nil, err
	}
	return agent.NewClient(conn), conn, nil
}
