package lexical

import (
	"strings"
	"unicode"
)

// StopWord reports whether a folded form says so little that a query is better off without it: English
// function words and the polite padding of requests.
func StopWord(form string) bool {
	_, ok := stopWords[form]
	return ok
}

var stopWords = func() map[string]struct{} {
	m := map[string]struct{}{}
	for _, w := range strings.Fields(stopList) {
		m[w] = struct{}{}
	}
	return m
}()

const stopList = `
a about above after again against all am an and any are arent as at be because been before being below between both but by can cannot cant could couldnt
did didnt do does doesnt doing dont down during each either else ever few for from further get gets give given go goes got had has have havent having he her here hers
him his how i if ill im in into is isnt it its itself ive just lets like made make makes many may me might more most much must my myself need needs neither no nor not now
of off on once one only or other our ours out over own per please possible rather same shall she should so some such than thank thanks that thats the their them then
there these they this those through to too under until up upon us use used using very via want wants was wasnt we well were what whats when where whether which while
who whom whose why will with within without wont would wouldnt yes yet you your yours`

// keyRune reports whether r is kept in a name's key.
func keyRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.IsNumber(r) || r == '+' || r == '#'
}
