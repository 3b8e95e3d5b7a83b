package main

import (
	"encoding/json"
	"sync"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
)

// token is what requests carry.
const token = "bench-data"

const authorization = "Authorization: Bearer " + token

// asked is a request in both of its forms.
type asked struct {
	what        string
	rest, query []byte
}

// requests are what the surface is measured by. Each is the same bytes every
// time; a put makes a new document of them.
var requests = sync.OnceValue(func() []asked {
	question := question()
	return []asked{
		{"get by id",
			get("/docs?id=7"),
			query("get docs where id = $1", 7)},
		{"filter, limit 10",
			get("/docs?k=7&limit=10"),
			query("get docs where k = $1 limit 10", 7)},
		{"near, top 10",
			post("/shapes/near", map[string]any{"vector": question, "limit": top, "select": []string{"id", "k", "body"}}),
			query("get shapes select id, k, body near vec $1 limit 10", question)},
		{"put",
			post("/notes", note()),
			query("put notes $1", note())},
	}
})

// note is the document that is put.
func note() map[string]any {
	return map[string]any{"k": 1, "owner": owners[0], "body": gen.MakeBodies(1, bodyBytes).At(0)}
}

func get(target string) []byte { return rawconn.Request("GET", target, nil, authorization) }

func post(target string, body any, fields ...string) []byte {
	return rawconn.Request("POST", target, toJSON(body), append(fields, authorization)...)
}

func query(text string, params ...any) []byte {
	return post("/query", map[string]any{"query": text, "params": params})
}

// toJSON writes what can be written.
func toJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// form returns the request as REST has it, or as a statement.
func (a asked) form(rest bool) []byte {
	if rest {
		return a.rest
	}
	return a.query
}

// formName tells the forms apart.
func formName(rest bool) string {
	if rest {
		return "REST"
	}
	return "POST /query"
}

// scopedGet is get under a token of its own.
func scopedGet(target, jwt string) []byte {
	return rawconn.Request("GET", target, nil, "Authorization: Bearer "+jwt)
}
