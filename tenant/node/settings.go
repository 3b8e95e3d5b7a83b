package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
)

// maxSettings is the longest object of settings, in bytes.
const maxSettings = 64 << 10

// settings answers a request for a tenant's settings: a flat object of texts, which PUT
// replaces as a whole.
func (n *Node) settings(r *http.Request, name string) serve.Answer {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return n.withSettings(r.Context(), name, func(context.Context, *tenant.Handle) error { return nil })
	case http.MethodPut:
		body, refusal := smallBody(r, maxSettings)
		if refusal != nil {
			return *refusal
		}
		to, err := settingsOf(body)
		if err != nil {
			return serve.Fail(http.StatusBadRequest, "settings are an object of texts: "+err.Error())
		}
		return n.withSettings(r.Context(), name, func(ctx context.Context, h *tenant.Handle) error {
			return h.SetSettings(ctx, to)
		})
	}
	return serve.NotFound(r)
}

// settingsOf reads settings.
func settingsOf(body []byte) (map[string]string, error) {
	list, err := members(body)
	if err != nil {
		return nil, err
	}
	to := map[string]string{}
	for key, value := range list {
		var text *string
		if err := json.Unmarshal(value, &text); err != nil || text == nil {
			return nil, fmt.Errorf("%.64q is none", key)
		}
		to[key] = *text
	}
	return to, nil
}

// withSettings does something to a tenant and answers with its settings.
func (n *Node) withSettings(ctx context.Context, name string, do func(context.Context, *tenant.Handle) error) serve.Answer {
	id, err := n.tenants.Lookup(ctx, name)
	if err != nil {
		return failure(err)
	}
	var settings map[string]string
	err = n.tenants.Do(ctx, id, func(ctx context.Context, h *tenant.Handle) error {
		if err := do(ctx, h); err != nil {
			return err
		}
		settings, err = h.Settings(ctx)
		return err
	})
	return answer(http.StatusOK, settings, err)
}
