package main

import (
	"strings"

	"rsc.io/qr"
)

// quiet is how many modules around a code stay free.
const quiet = 4

// drawQR draws a code with two modules a character. On a terminal it is black on white, whatever the colours are there;
// elsewhere the light modules are drawn, as most logs are read on a dark ground.
func drawQR(text string, terminal bool) (string, error) {
	c, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", err
	}
	drawn := func(x, y int) bool { return c.Black(x, y) == terminal } // outside of the code nothing is black
	var b strings.Builder
	for y := -quiet; y < c.Size+quiet; y += 2 {
		if terminal {
			b.WriteString("\x1b[30;107m")
		}
		for x := -quiet; x < c.Size+quiet; x++ {
			b.WriteRune(half(drawn(x, y), drawn(x, y+1)))
		}
		if terminal {
			b.WriteString("\x1b[0m")
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func half(upper, lower bool) rune {
	switch {
	case upper && lower:
		return '█'
	case upper:
		return '▀'
	case lower:
		return '▄'
	}
	return ' '
}
