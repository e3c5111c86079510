package tools

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // known to image.Decode
	"image/jpeg"
	_ "image/png" // known to image.Decode
)

const (
	maxSide   = 1568     // pixels of the longer side of a picture that is shown; providers make larger ones smaller
	maxPixels = 40 << 20 // of a picture that is decoded at all
)

// shownTypes are the pictures that models take.
var shownTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// picture tells what a picture is and adds it for a model that sees, made smaller when it is large.
func (e *Env) picture(about, mime string, data []byte) Result {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err == nil {
		about += fmt.Sprintf(", %d × %d pixels", config.Width, config.Height)
	}
	if !e.Vision {
		return Result{Content: about + ". You cannot see pictures; a program in run_shell may say what is in it."}
	}
	fits := shownTypes[mime] && int64(len(data)) <= e.Limits.Image && max(config.Width, config.Height) <= maxSide
	if fits && sound(data, mime) {
		return Result{Content: about + ". It is shown with this result.", Images: []Image{{MIME: mime, Data: data}}}
	}
	small, problem := shrink(data, config)
	if problem == "" && int64(len(small)) > e.Limits.Image {
		problem = "it is too large"
	}
	if problem != "" {
		return Result{Content: about + ". It cannot be shown: " + problem + "."}
	}
	return Result{Content: about + ". A smaller copy is shown with this result.", Images: []Image{{MIME: "image/jpeg", Data: small}}}
}

// sound tells whether a picture can be decoded: a provider that cannot do it refuses the whole conversation. There is no
// decoder for WebP here.
func sound(data []byte, mime string) bool {
	_, _, err := image.Decode(bytes.NewReader(data))
	return err == nil || mime == "image/webp"
}

// shrink makes a JPEG of a picture whose longer side is at most maxSide. The second result says why it cannot.
func shrink(data []byte, config image.Config) ([]byte, string) {
	switch {
	case config.Width <= 0 || config.Height <= 0:
		return nil, "its format is not known here"
	case config.Width*config.Height > maxPixels:
		return nil, "it has too many pixels"
	}
	full, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, "it is damaged"
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, scaled(full), &jpeg.Options{Quality: 85}); err != nil {
		return nil, err.Error()
	}
	return b.Bytes(), ""
}

// scaled returns a picture with sides of at most maxSide, each pixel the mean of those that it stands for, on white.
func scaled(full image.Image) image.Image {
	from := full.Bounds()
	long := max(from.Dx(), from.Dy())
	width, height := from.Dx(), from.Dy()
	if long > maxSide {
		width, height = max(1, width*maxSide/long), max(1, height*maxSide/long)
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			box := image.Rect(x*from.Dx()/width, y*from.Dy()/height, (x+1)*from.Dx()/width, (y+1)*from.Dy()/height)
			r, g, b := mean(full, box.Add(from.Min))
			at := to.PixOffset(x, y)
			to.Pix[at], to.Pix[at+1], to.Pix[at+2], to.Pix[at+3] = r, g, b, 0xFF
		}
	}
	return to
}

// mean returns the mean colour of a part of a picture on white.
func mean(full image.Image, box image.Rectangle) (r, g, b uint8) {
	var sum [3]uint64
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			red, green, blue, alpha := full.At(x, y).RGBA()
			white := uint64(0xFFFF - alpha)
			sum[0], sum[1], sum[2] = sum[0]+uint64(red)+white, sum[1]+uint64(green)+white, sum[2]+uint64(blue)+white
		}
	}
	n := uint64(max(1, box.Dx()*box.Dy()))
	return uint8(sum[0] / n >> 8), uint8(sum[1] / n >> 8), uint8(sum[2] / n >> 8)
}
