package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// lamps is an API with one example of each feature in GitHub's description.
const lamps = `{
  "paths": {
    "/lamps/{lamp_id}/{path}": {
      "put": {
        "parameters": [
          {"$ref": "#/components/parameters/lamp-id"},
          {"name": "path", "in": "path", "x-multi-segment": true, "schema": {"type": "string"}},
          {"name": "colour", "in": "query", "schema": {"type": "string", "enum": ["red", "green"]}}
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["tags"], "properties": {
          "tags": {"type": "array", "minItems": 1, "items": {"type": "string", "maxLength": 9}},
          "note": {"oneOf": [{"type": "string"}, {"type": "integer"}], "nullable": true}
        }}}}},
        "responses": {
          "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/lamp"}}}},
          "204": {},
          "409": {},
          "422": {"$ref": "#/components/responses/invalid"}
        }
      }
    }
  },
  "components": {
    "parameters": {"lamp-id": {"name": "lamp_id", "in": "path", "schema": {"type": "integer"}}},
    "responses": {"invalid": {"content": {"application/json": {"schema": {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}}}}},
    "schemas": {
      "lamp": {"allOf": [
        {"type": "object", "required": ["id", "owner"], "properties": {"id": {"type": "integer"}, "owner": {"$ref": "#/components/schemas/owner"}}},
        {"type": "object", "properties": {"lit": {"type": "boolean"}, "made": {"type": "string", "format": "date-time"}, "data": {"type": "object"}}}
      ]},
      "owner": {"type": "object", "nullable": true, "required": ["name"], "properties": {"name": {"type": "string"}}}
    }
  }
}`

const ourLamps = `
operations:
  PUT /lamps/{id}/{path...}:
    query: {maybe colour: red|green}
    body: {tags: [string ..9, 1..], maybe note: string or integer or null}
    answers: {200: lamp, 204: nothing, 409: error, 422: error}
shapes:
  error: {message: string}
  lamp: {id: integer, owner: owner or null, maybe lit: boolean, maybe made: time, maybe data: object}
  owner: {name: string}
`

// Each difference is found. A missing part is no difference where it may be missing.
func TestDifferences(t *testing.T) {
	var theirs openAPI
	if err := json.Unmarshal([]byte(lamps), &theirs); err != nil {
		t.Fatal(err)
	}
	const at = "PUT /lamps/{id}/{path...}"
	for _, tt := range []struct {
		old, new string
		want     []string
	}{
		{"", "", nil},
		{", maybe made: time", "", nil},
		{"string or integer or null", "integer or null", nil},
		{"query: {maybe colour: red|green}", "", nil},
		{"PUT /lamps", "PATCH /lamps", []string{"PATCH /lamps/{id}/{path...}: is in the excerpt: false"}},
		{"{id}", "{id}/lamps", []string{"PUT /lamps/{id}/lamps/{path...}: is in the excerpt: false"}},
		{"operations:", "outside the excerpt:", []string{at + ": is in the excerpt: true"}},
		{"{id}", "{lamp}", []string{"PUT /lamps/{lamp}/{path...}: {lamp} is of the kind integer"}},
		{"{id}/{path...}", "{lamp...}/{path}", []string{"PUT /lamps/{lamp...}/{path}: {lamp...} has no slashes", "PUT /lamps/{lamp...}/{path}: {lamp...} is of the kind integer"}},
		{"maybe colour", "maybe color", []string{at + ": the parameter color is there: false; it may be missing: true"}},
		{"maybe colour", "colour", []string{at + ": the parameter colour is there: true; it may be missing: true"}},
		{"red|green", "red|blue", []string{at + ` ?colour: is one of ["red" "green"]`}},
		{"red|green", "string", []string{at + ` ?colour: is one of ["red" "green"]`}},
		{"    body: {tags: [string ..9, 1..], maybe note: string or integer or null}\n", "", []string{at + ": there is a body: true"}},
		{"tags:", "maybe tags:", []string{at + " body.tags: may be missing: false", at + ": the body must be there: true"}},
		{"tags: [string ..9, 1..], ", "", []string{at + " body.tags: must be there", at + ": the body must be there: true"}},
		{"..9", "..8", []string{at + " body.tags[]: has a size of 0 to 9"}},
		{"..9, 1..", "..9, 2..", []string{at + " body.tags: has a size of 1 to 9223372036854775807"}},
		{"string or integer or null", "string or null or boolean", []string{at + " body.note: is of the kind string"}},
		{"string or integer or null", "string or integer", []string{at + " body.note: may be null: true"}},
		{"maybe note", "maybe not", []string{at + " body.not: is not there"}},
		{"200:", "201:", []string{at + ": the status 201 is not described"}},
		{"200: lamp", "200: [lamp]", []string{at + " 200: is of the kind object"}},
		{"204: nothing", "204: error", []string{at + " 204: there is a body: false"}},
		{"409: error", "409: owner", []string{at + " 409: there is a body: false"}},
		{"422: error", "422: nothing", []string{at + " 422: there is a body: true"}},
		{"message: string", "maybe message: string", []string{"error.message: may be missing: false"}},
		{"owner: owner or null", "owner: owner", []string{"lamp.owner: may be null: true"}},
		{"lamp: {id: integer, ", "lamp: {", []string{"lamp.id: must be there"}},
		{"maybe lit", "lit", []string{"lamp.lit: may be missing: true"}},
		{"made: time", "made: string", []string{"lamp.made: is of the kind time"}},
		{"lit: boolean", "lit: time", []string{"lamp.lit: is of the kind boolean"}},
		{"data: object", "data: {x: string}", []string{"lamp.data.x: is not there"}},
		{"owner: {name: string}", "owner: object", []string{"lamp.owner: has fields of its own"}},
		{"owner: {name: string}", "owner: {name: string, maybe age: integer}", []string{"owner.age: is not there"}},
	} {
		if !strings.Contains(ourLamps, tt.old) {
			t.Errorf("there is no %q to change", tt.old)
		}
		ours, err := read([]byte(strings.Replace(ourLamps, tt.old, tt.new, 1)))
		if err != nil {
			t.Errorf("with %q for %q: %v", tt.new, tt.old, err)
			continue
		}
		if got := theirs.differences(ours); !slices.Equal(got, tt.want) {
			t.Errorf("with %q for %q: %q, want %q", tt.new, tt.old, got, tt.want)
		}
	}
}
