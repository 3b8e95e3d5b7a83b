package serve_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// curl is what the words of a curl command ask for.
type curl struct {
	method, target string
	header         http.Header
	data           []string
	head           bool // show the answer's head, too
	inQuery        bool // the data are the query string
}

// curlOf reads the words of a curl command.
func curlOf(words []string) (*curl, error) {
	if len(words) == 0 || words[0] != "curl" {
		return nil, fmt.Errorf("want a curl command, got %q", words)
	}
	c := &curl{header: http.Header{}}
	for words = words[1:]; len(words) > 0; {
		n, err := c.take(words)
		if err != nil {
			return nil, err
		}
		words = words[n:]
	}
	return c, nil
}

// take takes in the first word, or an option with its value, and returns how many
// words that was.
func (c *curl) take(words []string) (n int, err error) {
	switch option := words[0]; {
	case option == "-N":
		return 1, nil
	case option == "-i":
		c.head = true
		return 1, nil
	case option == "-G":
		c.inQuery = true
		return 1, nil
	case !strings.HasPrefix(option, "-"):
		c.target = option
		return 1, nil
	case len(words) == 1:
		return 0, fmt.Errorf("%s needs a value", option)
	}
	switch option, value := words[0], words[1]; option {
	case "-X":
		c.method = value
	case "-H":
		name, text, _ := strings.Cut(value, ": ")
		c.header.Add(name, text)
	case "-d", "--data-binary":
		c.data = append(c.data, value)
	case "--data-urlencode":
		name, text, _ := strings.Cut(value, "=")
		c.data = append(c.data, name+"="+url.QueryEscape(text))
	default:
		return 0, fmt.Errorf("unknown option %s", option)
	}
	return 2, nil
}

// request returns the request, to base in place of the address that pages have.
func (c *curl) request(base string) (*http.Request, error) {
	path, ok := strings.CutPrefix(c.target, "localhost:8080")
	if !ok || strings.ContainsAny(path, " []{}") {
		return nil, errors.New("it is another's address, or curl does not take it: " + c.target)
	}
	body := strings.Join(c.data, "&")
	if c.inQuery {
		sep := "?"
		if strings.Contains(path, sep) {
			sep = "&"
		}
		path, body = path+sep+body, ""
	}
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequest(cmp.Or(c.method, method), base+path, strings.NewReader(body))
	if err == nil {
		r.Header = c.header
	}
	return r, err
}
