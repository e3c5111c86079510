package safety

import (
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
)

// The parts of SARIF 2.1.0 that are written, see
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type (
	sarifLog struct {
		Version string     `json:"version"`
		Schema  string     `json:"$schema"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string            `json:"id"`
		Short      sarifText         `json:"shortDescription"`
		Default    sarifLevel        `json:"defaultConfiguration"`
		Properties map[string]string `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID     string            `json:"ruleId"`
		RuleIndex  int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Properties map[string]string `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int       `json:"startLine"`
		StartColumn int       `json:"startColumn"`
		Snippet     sarifText `json:"snippet"`
	}
)

// SARIF writes reports as one SARIF 2.1.0 log, which code hosts and editors
// show. The keys of the map are the folders that were scanned; an absolute one
// becomes a file: address, any other is kept relative. Results come in the
// order of the folders, then of the findings.
func SARIF(w io.Writer, reports map[string]Report) error {
	rules := Rules()
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "openspace-skills", Rules: sarifRules(rules)}
	for _, dir := range slices.Sorted(maps.Keys(reports)) {
		for _, f := range reports[dir].Findings {
			run.Results = append(run.Results, sarifOf(dir, f, rules))
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{
		Version: "2.1.0",
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Runs:    []sarifRun{run},
	})
}

func sarifRules(rules []RuleInfo) []sarifRule {
	out := make([]sarifRule, len(rules))
	for i, r := range rules {
		out[i] = sarifRule{r.ID, sarifText{r.Message}, sarifLevel{levelOf(r.Severity)}, propertiesOf(r.Severity, r.Flag)}
	}
	return out
}

func sarifOf(dir string, f Finding, rules []RuleInfo) sarifResult {
	place := sarifPhysical{Artifact: sarifArtifact{addressOf(dir, f.Path)}}
	if f.Line > 0 {
		place.Region = &sarifRegion{f.Line, f.Column, sarifText{f.Excerpt}}
	}
	return sarifResult{
		RuleID:     f.Rule,
		RuleIndex:  slices.IndexFunc(rules, func(r RuleInfo) bool { return r.ID == f.Rule }),
		Level:      levelOf(f.Severity),
		Message:    sarifText{f.Message},
		Locations:  []sarifLocation{{place}},
		Properties: propertiesOf(f.Severity, f.Flag),
	}
}

// levelOf maps a severity to one of SARIF's three levels.
func levelOf(s Severity) string {
	switch s {
	case Critical, High:
		return "error"
	case Medium:
		return "warning"
	}
	return "note"
}

// propertiesOf keeps what the levels lose. security-severity is the number that
// code hosts sort by; its bands are those of CVSS.
func propertiesOf(s Severity, flag string) map[string]string {
	number := map[Severity]string{Critical: "9.5", High: "8.0", Medium: "5.5", Low: "2.0"}
	return map[string]string{"severity": string(s), "flag": flag, "security-severity": number[s]}
}

// addressOf is the URI of a file in a scanned folder.
func addressOf(dir, name string) string {
	u := url.URL{Path: path.Join(filepath.ToSlash(dir), name)}
	if path.IsAbs(u.Path) {
		u.Scheme = "file"
	}
	return u.String()
}
