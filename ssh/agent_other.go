//go:build !windows

package ssh

import (
	"io"
	"net"

	"golang.org/x/crypto/ssh/agent"
)

func agentAvailable(socket string) bool { return socket != "" }

func dialAgent(socket string) (agent.Agent, io.Closer, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, nil, err
	}
	return agent.NewClient(conn), conn, nil
}
