package gateway

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// commands are what a chat can ask of the gateway itself.
var commands = []struct{ name, does string }{
	{"/help", "this list"},
	{"/new", "begin a new conversation; what was said before is no longer part of it"},
	{"/stop", "end what is running here and drop what waits, answers too"},
	{"/status", "what is running and waiting here, and which answers cannot be sent"},
	{"/skills", "the skills that I have"},
	{"/files", "the files of this chat; `/files NAME` sends one"},
}

// commandOf returns the command that a message is, "" for none. Platforms write the name of the bot behind
// it: /stop@somebot.
func commandOf(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	word, _, _ = strings.Cut(word, "\n")
	word, _, _ = strings.Cut(word, "@")
	word = strings.ToLower(word)
	if word == "/start" { // what Telegram has people send first
		return "/help"
	}
	for _, c := range commands {
		if c.name == word {
			return word
		}
	}
	return ""
}

// command answers a command, while others wait.
func (g *Gateway) command(it *item, name string) error {
	switch name {
	case "/stop":
		return g.stop(it)
	case "/status":
		return g.reply(it, g.statusText(it.session))
	case "/help":
		return g.reply(it, helpText())
	}
	if err := g.ledger.record(it.entry(received)); err != nil {
		return err
	}
	g.workers.Go(func() { g.process(&chat{}, it, g.newTurn()) })
	return nil
}

// obey answers a command that takes a while.
func (g *Gateway) obey(s *session, it *item, name string) error {
	text, file := "", (*File)(nil)
	switch name {
	case "/new":
		if err := s.append(line{EntryID: it.key, Role: "mark", Timestamp: stamp(g.now())}); err != nil {
			return err
		}
		text = textNew
	case "/skills":
		text = g.skillsText()
	case "/files":
		_, args, _ := strings.Cut(strings.TrimSpace(it.message.Text), " ")
		text, file = g.files(s, it, strings.TrimSpace(args))
	default:
		text = helpText()
	}
	parts := g.texts(it, text)
	if file != nil {
		parts = append(parts, part{File: file})
	}
	return g.settleAnswer(it, wire.Result{Status: "notice"}, parts)
}

func helpText() string {
	var b strings.Builder
	b.WriteString("Write what is to be done, and send files along if you like.\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "\n- `%s`: %s", c.name, c.does)
	}
	return b.String()
}

// maxListed bounds lists in a chat.
const maxListed = 30

// maxAsks bounds the lists of skills that are made at once: each is a process.
const maxAsks = 2

func (g *Gateway) skillsText() string {
	select {
	case g.asks <- struct{}{}:
		defer func() { <-g.asks }()
	case <-g.ctx.Done():
	}
	ctx, cancel := context.WithTimeout(g.ctx, 10*time.Second)
	defer cancel()
	skills, err := g.runner.Skills(ctx)
	if err != nil {
		g.log.Error("list skills", "error", g.mask(err.Error()))
		return "The skills cannot be listed at the moment."
	}
	if len(skills) == 0 {
		return "There are no skills yet."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d skills:\n", len(skills))
	for _, s := range skills[:min(len(skills), maxListed)] {
		fmt.Fprintf(&b, "\n- `%s`: %s", strings.ReplaceAll(s.Name, "`", "'"), oneLine(s.Description, 120))
	}
	if n := len(skills) - maxListed; n > 0 {
		fmt.Fprintf(&b, "\n- and %d more", n)
	}
	return b.String()
}

// files lists the files of a chat, or sends one.
func (g *Gateway) files(s *session, it *item, name string) (string, *File) {
	if name == "" {
		return filesText(s.workspace), nil
	}
	largest := g.joined[it.account].Channel.Limits().File
	if largest == 0 {
		return "Files cannot be sent here.", nil
	}
	if !filepath.IsLocal(name) {
		return "There is no such file. `/files` lists what there is.", nil
	}
	f, err := g.keepFile(s, it.key+"-c", name, largest)
	if err != nil {
		g.log.Info("file is not sent", "session", s.key, "error", err)
		return "This file cannot be sent: it is not there, is empty, or is too large. `/files` lists what there is.", nil
	}
	return "Here it is.", f
}

// maxWalked bounds how many files are looked at for a list.
const maxWalked = 2000

func filesText(workspace string) string {
	type found struct {
		rel  string
		info fs.FileInfo
	}
	var all []found
	filepath.WalkDir(workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(all) >= maxWalked {
			return fs.SkipDir
		}
		if path != workspace && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			rel, _ := filepath.Rel(workspace, path)
			all = append(all, found{rel, info})
		}
		return nil
	})
	if len(all) == 0 {
		return "There are no files here yet."
	}
	slices.SortFunc(all, func(a, b found) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	var b strings.Builder
	b.WriteString("Files, the newest first; `/files NAME` sends one:\n")
	for _, f := range all[:min(len(all), maxListed)] {
		fmt.Fprintf(&b, "\n- `%s` (%s)", strings.ReplaceAll(f.rel, "`", "'"), size(f.info.Size()))
	}
	if n := len(all) - maxListed; n > 0 {
		fmt.Fprintf(&b, "\n- and %d more", n)
	}
	return b.String()
}
