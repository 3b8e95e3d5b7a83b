package openapi

// addFixed adds the routes that are there whatever the collections are. Where a
// collection has the path of one, its own operations stay beside it, but for those
// that it takes the place of.
func addFixed(paths map[string]*pathItem) {
	at := func(path string) *pathItem {
		if paths[path] == nil {
			paths[path] = &pathItem{}
		}
		return paths[path]
	}
	at("/").Get = &operation{ID: "root", Summary: "Tells the version and the names of the collections.",
		Responses: answers("200", "version and names", object(map[string]*schema{"fenecdb": text(), "collections": list(text())}, "fenecdb", "collections"))}
	at("/collections").Get = &operation{ID: "collections", Summary: "Tells what the collections are like.",
		Responses: answers("200", "the collections", list(refTo("collection")))}
	at("/query").Post = &operation{ID: "query", Summary: "Runs a statement.",
		Parameters: []*parameter{shared("idempotencyKey")}, Body: needs(refTo("statement")),
		Responses: answers("200", "what it answers", refTo("result"))}
	at("/batch").Post = &operation{ID: "batch", Summary: "Runs statements, all or none: one on each line.",
		Parameters: []*parameter{shared("idempotencyKey")},
		Body:       &body{true, map[string]*media{"application/x-ndjson": {refTo("statement")}}},
		Responses: answers("200", "what they answer, in order", object(map[string]*schema{
			"ok": whole(0), "results": list(&schema{Type: "object"}),
		}, "ok", "results"))}
}

// clauses are the parameters of a read that are no filters, and what they mean.
var clauses = map[string]string{
	"select": "fields, joined by commas, or columns in FenecQL",
	"group":  "what to group by, in FenecQL",
	"order":  "fields to sort by, joined by commas, each with .desc behind it or not",
	"limit":  "how many documents at most",
	"offset": "how many documents to pass over",
	"count":  "true for the number of documents alone",
	"where":  "a condition in FenecQL",
	"facet":  "fields whose values are counted, in FenecQL",
	"lookup": "collections whose documents are looked up for each document",
}

func shared(name string) *parameter { return &parameter{Ref: "#/components/parameters/" + name} }

func sharedParameters() map[string]*parameter {
	m := map[string]*parameter{
		"since":          {Name: "since", In: "query", Description: "the change to go on from", Schema: whole(0)},
		"idempotencyKey": {Name: "Idempotency-Key", In: "header", Description: "with the same key the same write happens once", Schema: text()},
	}
	for name, description := range clauses {
		m[name] = &parameter{Name: name, In: "query", Description: description, Schema: text()}
	}
	m["limit"].Schema, m["offset"].Schema = whole(0), whole(0)
	return m
}

func sharedSchemas() map[string]*schema {
	return map[string]*schema{
		"error": object(map[string]*schema{
			"error":       text(),
			"retry_after": described(whole(0), "seconds, where to try again helps"),
			"completed":   described(whole(0), "of a batch: how many statements stay"),
			"at":          described(whole(0), "of a batch: which statement failed, from 0"),
		}, "error"),
		"filter": described(list(text()), "a value, or one of eq. neq. lt. lte. gt. gte. like. has. in. is. and a value, "+
			"with not. before it or not; given more than once, all must hold"),
		"statement":  object(map[string]*schema{"query": described(text(), "one statement of FenecQL"), "params": described(list(&schema{}), "the values of $1, $2, …")}, "query"),
		"facets":     {Type: "object", Description: "by field, its values and how many documents have them"},
		"collection": describedCollection(),
		"result": oneOf(list(&schema{Type: "object"}), counted("affected"), object(map[string]*schema{"message": text()}, "message"),
			object(map[string]*schema{"rows": list(&schema{Type: "object"}), "facets": refTo("facets")}, "rows", "facets")),
	}
}

func describedCollection() *schema {
	field := object(map[string]*schema{
		"name": text(), "type": text(), "index": {Type: []string{"string", "null"}},
		"required": {Type: "boolean"}, "collate": text(),
	}, "name", "type", "index", "required")
	path := object(map[string]*schema{"path": text(), "index": text()}, "path", "index")
	return object(map[string]*schema{"name": text(), "fields": list(field), "paths": list(path)}, "name", "fields")
}
