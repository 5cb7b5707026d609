package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin/unary"
)

// isUnimplemented reports whether the provider lacks an RPC: it is of an older version of the protocol.
func isUnimplemented(err error) bool { return unary.CodeOf(err) == unary.Unimplemented }

// isLost reports whether the connection broke while the call was under way.
func isLost(err error) bool {
	e, ok := errors.AsType[*unary.Error](err)
	return ok && e.Code == unary.Unavailable && !e.Unsent
}

// messageOf returns the message of a failed call, without its code.
func messageOf(err error) string {
	if e := (*unary.Error)(nil); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// callError describes a failed RPC. If the end of ctx ended the wait, the diagnostic's Extra is the
// context's error.
func (c *client) callError(ctx context.Context, rpc string, err error) diag.List {
	if c.life.Err() != nil {
		return diag.Errorf("Provider closed", "Provider %s was closed before it answered the call %s.", c.name, rpc)
	}
	if ctx.Err() != nil {
		return c.interrupted(ctx.Err(), rpc)
	}
	_, limited := ctx.Deadline()
	switch unary.CodeOf(err) {
	case unary.Unavailable:
		return c.lost(rpc, isLost(err))
	case unary.Unimplemented:
		return diag.Errorf("Operation not supported by provider",
			"Provider %s does not have the operation %s. A newer version of the provider may have it.", c.name, rpc)
	case unary.Canceled, unary.DeadlineExceeded:
		if limited && unary.CodeOf(err) == unary.DeadlineExceeded { // the server has the same deadline and may notice it first
			return c.interrupted(context.DeadlineExceeded, rpc)
		}
		return diag.Errorf("Provider ended the call", "Provider %s ended the call %s without an answer.", c.name, rpc)
	case unary.ResourceExhausted:
		return diag.Errorf("Message too large for provider",
			"The call %s of provider %s exceeds a size limit: %s.", rpc, c.name, messageOf(err))
	default:
		return diag.Errorf("Provider call failed",
			"Provider %s failed the call %s: %s.\n\nThis is a bug in the provider, which should report problems as diagnostics.",
			c.name, rpc, strings.TrimSuffix(messageOf(err), "."))
	}
}

// interrupted reports that the context of a call ended, for the given reason.
func (c *client) interrupted(reason error, rpc string) diag.List {
	d := diag.Errorf("Operation interrupted", "The call %s was interrupted before provider %s answered.", rpc, c.name)
	if errors.Is(reason, context.DeadlineExceeded) {
		d = diag.Errorf("Provider took too long", "Provider %s did not answer the call %s in the time allowed.", c.name, rpc)
	}
	d[0].Extra = reason
	return d
}

// lost reports that the connection broke. Only the first error explains how the process ended. The others
// are marked as repeats, unless they are the only trace of a change that may have been made. underWay is
// whether the call may have reached the provider.
func (c *client) lost(rpc string, underWay bool) diag.List {
	repeat, changing := c.ended.Swap(true), underWay && (rpc == "ApplyResourceChange" || rpc == "InvokeAction")
	var detail string
	switch {
	case repeat && changing && rpc == "InvokeAction":
		detail = fmt.Sprintf("Provider %s stopped before it answered the call %s, so the action may have been carried out or not.", c.name, rpc)
	case repeat && changing:
		detail = fmt.Sprintf("Provider %s stopped before it answered the call %s, so the change may have been made although the state does not have it. See what exists before you apply again.", c.name, rpc)
	case repeat && underWay:
		detail = fmt.Sprintf("Provider %s stopped before it answered the call %s.", c.name, rpc)
	case repeat:
		detail = fmt.Sprintf("Provider %s stopped earlier, so the call %s could not be made.", c.name, rpc)
	case c.proc == nil:
		detail = fmt.Sprintf("Provider %s could not be reached for the call %s. Its process is not managed by this program: see whether it "+
			"still runs.", c.name, rpc)
	default:
		detail = fmt.Sprintf("Provider %s stopped during the call %s%s. This is a bug in the provider: report it to its developers.%s",
			c.name, rpc, c.proc.exitText(), c.proc.stderr.text())
	}
	l := diag.Errorf("Provider stopped unexpectedly", "%s", detail)
	l[0].Extra = provider.Stopped{Provider: c.name, Repeat: repeat && !changing}
	return l
}
