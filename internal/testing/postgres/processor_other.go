//go:build !linux

package postgres

import (
	"errors"
	"time"
)

// ProcessorTime returns an error: it is known on Linux only.
func (s *Server) ProcessorTime() (time.Duration, error) {
	return 0, errors.New("the processor time of the server is not known on this system")
}
