package ssh

import (
	"io"

	sshagent "github.com/xanzy/ssh-agent"
	"golang.org/x/crypto/ssh/agent"
)

// agentAvailable looks for Pageant and for the agent service of Windows; neither uses a socket.
func agentAvailable(string) bool { return sshagent.Available() }

// dialAgent connects to Pageant or to the agent service.
func dialAgent(string) (agent.Agent, io.Closer, error) {
	a, conn, err := sshagent.New()
	if err != nil {
		return nil, nil, err
	}
	if conn == nil { // Pageant receives messages without a connection
		return a, nothing{}, nil
	}
	return a, conn, nil
}

// nothing is a connection that need not be closed.
type nothing struct{}

func (nothing) Close() error { return nil }
