package router

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
)

// everything are members of all forms.
type everything struct {
	text   string
	flag   bool
	count  int64
	labels map[string]string
	schema []byte
	limits quota.Limits
}

func (e *everything) members() members {
	return members{
		"text": textTo(&e.text), "flag": boolTo(&e.flag), "count": countTo(&e.count),
		"labels": textsTo(&e.labels), "schema": schemaTo(&e.schema), "quota": limitsTo(&e.limits),
	}
}

func TestReadMembers(t *testing.T) {
	for _, c := range []struct {
		body string
		want everything
	}{
		{``, everything{}},
		{" \n", everything{}},
		{`{}`, everything{}},
		{`{"text":null,"flag":null,"count":null,"labels":null,"schema":null,"quota":null}`, everything{}},
		{` { "text" : "a\u00e9\n" , "flag" : true , "count" : 9223372036854775807 } `,
			everything{text: "aé\n", flag: true, count: 1<<63 - 1}},
		{`{"labels":{"zone":"a","rack":""}}`, everything{labels: map[string]string{"zone": "a", "rack": ""}}},
		{`{"labels":{}}`, everything{labels: map[string]string{}}},
		{`{"schema":{"format":1}}`, everything{schema: []byte(`{"format":1}`)}},
		{`{"schema":" {\"format\":1}\n"}`, everything{schema: []byte(`{"format":1}`)}},
		{`{"quota":{"rows":5,"bytes":null}}`, everything{limits: quota.Limits{Rows: 5}}},
		{`{"quota":{}}`, everything{}},
	} {
		var got everything
		require.NoError(t, readMembers(httptest.NewRequest("PUT", "/", strings.NewReader(c.body)), got.members()), c.body)
		require.Equal(t, c.want, got, c.body)
	}
}

func TestMembersRefused(t *testing.T) {
	for body, why := range map[string]string{
		`[]`:                             "not a JSON object",
		`null`:                           "not a JSON object",
		`{"text":"a"`:                    "not a JSON object",
		`{"text":"a",}`:                  "not a JSON object",
		`{"text":"a"}x`:                  "something follows",
		`{"text":"a"}{}`:                 "something follows",
		`{"other":1}`:                    `unknown member "other"`,
		`{"Text":"a"}`:                   `unknown member "Text"`,
		`{"text":"a","text":"a"}`:        `"text" is there twice`,
		`{"text":null,"text":"a"}`:       `"text" is there twice`,
		`{"text":1}`:                     `"text" must be a text`,
		`{"text":{"a":"b"}}`:             `"text" must be a text`,
		`{"flag":"true"}`:                `"flag" must be true or false`,
		`{"flag":1}`:                     `"flag" must be true or false`,
		`{"count":-1}`:                   `"count" must be a whole number`,
		`{"count":1.0}`:                  `"count" must be a whole number`,
		`{"count":1e3}`:                  `"count" must be a whole number`,
		`{"count":"1"}`:                  `"count" must be a whole number`,
		`{"count":9223372036854775808}`:  `"count" must be a whole number`,
		`{"labels":["a"]}`:               `"labels" must be an object of texts`,
		`{"labels":{"a":1}}`:             `"labels" cannot be read: of "a": its value must be a text`,
		`{"labels":{"a":null}}`:          `must be a text`,
		`{"labels":{"a":"b","a":"c"}}`:   `"a" is there twice`,
		`{"schema":"create collection"}`: `"schema" must be a description`,
		`{"schema":[]}`:                  `"schema" must be a description`,
		`{"schema":"{"}`:                 `"schema" must be a description`,
		`{"quota":{"rows":0}}`:           `"quota" cannot be read: quota: "rows"`,
		`{"quota":{"row":1}}`:            `unknown key "row"`,
		`{"quota":7}`:                    `"quota" cannot be read`,
		"{\"text\":\"\xff\"}":            "not UTF-8",
	} {
		err := readMembers(httptest.NewRequest("PUT", "/", strings.NewReader(body)), new(everything).members())
		require.ErrorContains(t, err, why, body)
		require.Equal(t, 400, refuse(err).status, body)
	}
	long := httptest.NewRequest("PUT", "/", strings.NewReader(`{"text":"`+strings.Repeat("a", maxObject)+`"}`))
	require.Equal(t, 413, refuse(readMembers(long, new(everything).members())).status)
	cut := httptest.NewRequest("PUT", "/", iotest.ErrReader(io.ErrUnexpectedEOF))
	require.ErrorContains(t, readMembers(cut, nil), "cut short")
}

// FuzzReadMembers compares with what encoding/json makes of the same body, which takes
// more: whatever is read is read the same.
func FuzzReadMembers(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","flag":true,"count":7,"labels":{"a":"b"}}`, `{"text":"\ud800"}`, `{"count":0}`, `{"labels":{"a":"b"`, `{"text":null}`,
		`{"schema":"{}","quota":{"rows":1}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var got everything
		if readMembers(httptest.NewRequest("PUT", "/", strings.NewReader(body)), got.members()) != nil {
			return
		}
		var want struct {
			Text   string
			Flag   bool
			Count  int64
			Labels map[string]string
			Quota  quota.Limits
			Schema any
		}
		if strings.TrimSpace(body) != "" {
			require.NoError(t, json.Unmarshal([]byte(body), &want))
		}
		require.Equal(t, want.Text, got.text)
		require.Equal(t, want.Flag, got.flag)
		require.Equal(t, want.Count, got.count)
		require.Equal(t, want.Labels, got.labels)
		require.Equal(t, want.Quota, got.limits)
		require.Equal(t, want.Schema != nil, got.schema != nil)
	})
}
