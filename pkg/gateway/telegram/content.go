package telegram

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

// content is what a message has in place of a text.
type content struct {
	Sticker *struct {
		Emoji string `json:"emoji"`
	} `json:"sticker"`
	Dice *struct {
		Emoji string `json:"emoji"`
		Value int    `json:"value"`
	} `json:"dice"`
	Location *place `json:"location"`
	Venue    *struct {
		Location place  `json:"location"`
		Title    string `json:"title"`
		Address  string `json:"address"`
	} `json:"venue"`
	Contact *struct {
		Number string `json:"phone_number"`
		First  string `json:"first_name"`
		Last   string `json:"last_name"`
	} `json:"contact"`
	Poll *struct {
		Question string `json:"question"`
		Options  []struct {
			Text string `json:"text"`
		} `json:"options"`
	} `json:"poll"`

	// What people send and has no text that would say the same. All else is a note of the platform.
	Story     json.RawMessage `json:"story"`
	Game      json.RawMessage `json:"game"`
	Invoice   json.RawMessage `json:"invoice"`
	PaidMedia json.RawMessage `json:"paid_media"`
	Checklist json.RawMessage `json:"checklist"`
	Giveaway  json.RawMessage `json:"giveaway"`
}

type place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// sent reports whether there is something that a person has sent.
func (c content) sent() bool {
	return c.Sticker != nil || c.Dice != nil || c.Location != nil || c.Venue != nil || c.Contact != nil || c.Poll != nil ||
		slices.ContainsFunc([]json.RawMessage{c.Story, c.Game, c.Invoice, c.PaidMedia, c.Checklist, c.Giveaway}, func(raw json.RawMessage) bool { return len(raw) > 0 })
}

// text says the same in words.
func (c content) text() string {
	switch {
	case c.Sticker != nil:
		return c.Sticker.Emoji
	case c.Dice != nil:
		return fmt.Sprintf("%s %d", c.Dice.Emoji, c.Dice.Value)
	case c.Venue != nil: // has a location, too
		return gateway.PlaceText(c.Venue.Location.Latitude, c.Venue.Location.Longitude, c.Venue.Title, c.Venue.Address)
	case c.Location != nil:
		return gateway.PlaceText(c.Location.Latitude, c.Location.Longitude)
	case c.Contact != nil:
		return gateway.ContactText(strings.TrimSpace(c.Contact.First+" "+c.Contact.Last), c.Contact.Number)
	case c.Poll != nil:
		var options []string
		for _, o := range c.Poll.Options {
			options = append(options, o.Text)
		}
		return gateway.PollText(c.Poll.Question, options)
	}
	return ""
}
