package web

import (
	"context"
	"fmt"
	"log/slog"

	waLog "go.mau.fi/whatsmeow/util/log"
)

// logger hands what the library says on at the level debug: there are numbers in it, and its warnings are mostly about
// what it then puts right.
type logger struct{ log *slog.Logger }

var _ waLog.Logger = logger{}

func (l logger) say(level, format string, args []any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("whatsmeow", "level", level, "said", fmt.Sprintf(format, args...))
	}
}

func (l logger) Debugf(format string, args ...any) { l.say("debug", format, args) }
func (l logger) Infof(format string, args ...any)  { l.say("info", format, args) }
func (l logger) Warnf(format string, args ...any)  { l.say("warning", format, args) }
func (l logger) Errorf(format string, args ...any) { l.say("error", format, args) }

// Sub is part of the library's interface.
func (l logger) Sub(module string) waLog.Logger { return logger{l.log.With("module", module)} }
