package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/olmgraft/graft/internal/graph"
)

// Tool is the program's version for SARIF, and the file for findings without one.
type Tool struct {
	Version string
	Catalog string
}

// SARIF writes findings as SARIF 2.1.0 in the form that GitHub code scanning requires: every result has a place,
// and a fingerprint that does not depend on the line.
func SARIF(w io.Writer, found []graph.Finding, tool Tool) error {
	run := sarifRun{Results: []sarifResult{}, ColumnKind: "utf16CodeUnits"}
	run.Tool.Driver = sarifDriver{Name: "graft", InformationURI: "https://github.com/olmgraft/graft", Version: tool.Version}
	index := map[string]int{}
	for i, r := range graph.Rules {
		index[r.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(r))
	}
	for _, f := range found {
		run.Results = append(run.Results, sarifResultOf(f, index, tool))
	}
	return writeJSON(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

func sarifRuleOf(r graph.Rule) sarifRule {
	out := sarifRule{ID: r.ID, Name: pascal(r.ID), Short: sarifText{r.Meaning}, Full: sarifText{r.Meaning}, Help: sarifText{r.Remedy}}
	out.Default.Level = string(r.Level)
	out.Properties.Tags = []string{"olm", r.Code.Class()}
	return out
}

func sarifResultOf(f graph.Finding, index map[string]int, tool Tool) sarifResult {
	out := sarifResult{RuleID: f.ID, RuleIndex: index[f.ID], Level: string(f.Level), Message: sarifText{f.Message + ". " + f.Remedy}}
	var at sarifLocation
	file := f.File
	if file == "" {
		file = tool.Catalog
	}
	at.Physical.Artifact.URI = fileURI(file)
	at.Physical.Region.StartLine = max(f.Line, 1)
	if name := logicalName(f); name != "" {
		at.Logical = []sarifLogical{{name}}
	}
	out.Locations = []sarifLocation{at}
	sum := sha256.Sum256([]byte(strings.Join([]string{f.ID, file, f.Package, f.Channel, f.Bundle, f.Message}, "\x00")))
	out.Fingerprints = map[string]string{"graftFinding/v1": hex.EncodeToString(sum[:16])}
	return out
}

// fileURI converts a path to a relative reference, as code scanning requires.
func fileURI(file string) string {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	u := url.URL{Path: file}
	return u.String()
}

func logicalName(f graph.Finding) string {
	var parts []string
	for _, s := range []string{f.Package, f.Channel, f.Bundle} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "/")
}

// pascal converts channel-two-heads to ChannelTwoHeads.
func pascal(id string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(id, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Short   sarifText `json:"shortDescription"`
		Full    sarifText `json:"fullDescription"`
		Help    sarifText `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
		Properties struct {
			Tags []string `json:"tags"`
		} `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)
