package cli

import (
	"context"
	"os"
)

// Signalled returns a context that ends with parent as if by a signal.
func Signalled(parent context.Context, sig os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	context.AfterFunc(parent, func() { cancel(&signalError{sig: sig}) })
	return ctx, func() { cancel(context.Canceled) }
}

// ManualText is tested alone.
var ManualText = manualText
