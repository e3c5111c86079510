package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/corpus"
)

// query is one labelled query.
type query struct {
	ID       string   `json:"query_id"`
	Set      string   `json:"set"`
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"`
}

// document is one skill of a collection.
type document struct {
	id, folder, text string
}

// collection is a set of skills with its queries.
type collection struct {
	name    string
	docs    func() ([]document, error)
	queries string
}

func collections(data string) []collection {
	return []collection{
		{"skills", func() ([]document, error) { return skills(filepath.Join(data, "skills.jsonl.gz")) }, filepath.Join(data, "retrieval/skillsbench-dev.jsonl")},
		{"metatool", func() ([]document, error) { return tools(filepath.Join(data, "retrieval/metatool-tools.jsonl")) }, filepath.Join(data, "retrieval/metatool-dev.jsonl")},
	}
}

// unpack writes the skills below root, in an order that has nothing to do with the file's, and returns the id
// of each folder.
func (c collection) unpack(root string) (map[string]string, error) {
	docs, err := c.docs()
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	ids := map[string]string{}
	for i, d := range docs {
		dir := filepath.Join(root, fmt.Sprintf("%05d", i), d.folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(d.text), 0o644); err != nil {
			return nil, err
		}
		ids[dir] = d.id
	}
	return ids, nil
}

// load reads the queries; those of a file without sets belong to one named like the collection.
func (c collection) load() (queries []query, err error) {
	err = corpus.Lines(c.queries, func(line []byte) error {
		q := query{Set: c.name}
		err := json.Unmarshal(line, &q)
		queries = append(queries, q)
		return err
	})
	return queries, err
}

// skills reads real skill files.
func skills(file string) (docs []document, err error) {
	all, err := corpus.Skills(file)
	for _, s := range all {
		docs = append(docs, document{s.ID, path.Base(path.Dir(s.ID)), s.Text})
	}
	return docs, err
}

// tools reads tool descriptions and makes a skill of each.
func tools(file string) (docs []document, err error) {
	err = corpus.Lines(file, func(line []byte) error {
		var t struct{ ID, Name, Description string }
		if err := json.Unmarshal(line, &t); err != nil {
			return err
		}
		name, _ := json.Marshal(t.Name)
		description, _ := json.Marshal(t.Description)
		text := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n", name, description)
		docs = append(docs, document{t.ID, strings.ReplaceAll(t.ID, "/", "-"), text})
		return nil
	})
	return docs, err
}
