package openapi

// What follows are the parts of a document that are used, under the names that
// OpenAPI gives them. A zero field is left out, but where the tag says otherwise.

type document struct {
	OpenAPI    string                `json:"openapi"`
	Info       info                  `json:"info"`
	Paths      map[string]*pathItem  `json:"paths"`
	Components components            `json:"components"`
	Security   []map[string][]string `json:"security,omitempty"`
}

type info struct {
	Title   string `json:"title"`
	Version string `json:"version"`
}

type pathItem struct {
	Get    *operation `json:"get,omitempty"`
	Post   *operation `json:"post,omitempty"`
	Put    *operation `json:"put,omitempty"`
	Patch  *operation `json:"patch,omitempty"`
	Delete *operation `json:"delete,omitempty"`
}

type operation struct {
	ID         string               `json:"operationId"`
	Summary    string               `json:"summary"`
	Tags       []string             `json:"tags,omitempty"`
	Parameters []*parameter         `json:"parameters,omitempty"`
	Body       *body                `json:"requestBody,omitempty"`
	Responses  map[string]*response `json:"responses"`
}

type parameter struct {
	Ref         string  `json:"$ref,omitempty"`
	Name        string  `json:"name,omitempty"`
	In          string  `json:"in,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *schema `json:"schema,omitempty"`
}

type body struct {
	Required bool              `json:"required"`
	Content  map[string]*media `json:"content"`
}

type media struct {
	Schema *schema `json:"schema"`
}

type response struct {
	Ref         string            `json:"$ref,omitempty"`
	Description string            `json:"description,omitempty"`
	Content     map[string]*media `json:"content,omitempty"`
}

type components struct {
	Schemas    map[string]*schema    `json:"schemas"`
	Parameters map[string]*parameter `json:"parameters"`
	Responses  map[string]*response  `json:"responses"`
	Security   map[string]security   `json:"securitySchemes,omitempty"`
}

type security struct {
	Type   string `json:"type"`
	Scheme string `json:"scheme"`
}

// schema is a JSON Schema of the draft 2020-12. The zero schema admits everything.
type schema struct {
	Ref         string             `json:"$ref,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        any                `json:"type,omitempty"` // a string, or a list of them
	Format      string             `json:"format,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *int64             `json:"minimum,omitempty"`
	Maximum     *int64             `json:"maximum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	MinItems    int                `json:"minItems,omitempty"`
	MaxItems    int                `json:"maxItems,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	OneOf       []*schema          `json:"oneOf,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
}

func object(properties map[string]*schema, required ...string) *schema {
	return &schema{Type: "object", Properties: properties, Required: required}
}

func list(of *schema) *schema { return &schema{Type: "array", Items: of} }

func oneOf(list ...*schema) *schema { return &schema{OneOf: list} }

func refTo(name string) *schema { return &schema{Ref: "#/components/schemas/" + name} }

func text() *schema { return &schema{Type: "string"} }

func whole(from int64) *schema { return &schema{Type: "integer", Format: "int64", Minimum: &from} }

// described returns s with a description.
func described(s *schema, description string) *schema {
	s.Description = description
	return s
}

// counted is an answer that is a number under a name.
func counted(name string) *schema { return object(map[string]*schema{name: whole(0)}, name) }

func inJSON(s *schema) map[string]*media { return map[string]*media{"application/json": {s}} }

func needs(s *schema) *body { return &body{true, inJSON(s)} }

// answers are the responses of an operation: one that succeeds, and errors.
func answers(status, description string, s *schema) map[string]*response {
	return map[string]*response{
		status:    {Description: description, Content: inJSON(s)},
		"default": {Ref: "#/components/responses/error"},
	}
}
