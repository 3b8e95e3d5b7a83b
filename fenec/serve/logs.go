package serve

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/internal/eventlog"
)

// origin says which request an event of the logs is of.
func (c *call) origin() eventlog.Origin {
	peer, via := c.server.from(c.r)
	return eventlog.Origin{Peer: peer, Via: via, RequestID: requestID(c.w), Tenant: c.source.Tenant}
}

// longestLogged is the longest statement that is logged whole, in bytes.
const longestLogged = 1000

// statementText returns what the logs say that a request asked for: method,
// target, and the texts of its statements, with the number of their parameters,
// which are nobody's business.
func (c *call) statementText() string {
	var b strings.Builder
	b.WriteString(c.r.Method + " " + c.r.RequestURI)
	for i, st := range c.statements {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(" " + st.Text)
		if n := len(st.Args); n > 0 {
			b.WriteString(" (" + strconv.Itoa(n) + " parameters)")
		}
		if b.Len() > longestLogged {
			break
		}
	}
	return cut(b.String(), longestLogged)
}

// cut shortens a text at a character's end.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
