package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec"
)

// Keys of settings that have a meaning to many services. Others may be used as well.
const (
	SettingPublicURL  = "public_url"  // where the tenant's own users find it
	SettingBrand      = "brand"       // its name, as its users see it
	SettingCORSOrigin = "cors_origin" // whose pages may ask for its data
)

// settingsCollection is where a database keeps its tenant's settings, so that they go
// wherever it goes.
const settingsCollection = "_tenant"

// Settings returns what belongs to the tenant beside its data, such as its address and
// its name, by key. They are rows of the collection _tenant (key text, value text) of its
// own database: an image, a rename and the trash have them too.
func (h *handle) Settings(ctx context.Context) (map[string]string, error) {
	if err := h.begin(); err != nil {
		return nil, err
	}
	defer h.end()
	settings := map[string]string{}
	if !slices.Contains(h.live.db.Collections(), settingsCollection) {
		return settings, nil
	}
	res, err := h.live.db.Query(ctx, "get "+settingsCollection+" select key, value")
	if err != nil {
		return nil, fmt.Errorf("tenant %q: settings: %w", h.ID(), err)
	}
	for res.Next() {
		var key, value string
		if err := res.Scan(&key, &value); err != nil {
			return nil, fmt.Errorf("tenant %q: settings: %w", h.ID(), err)
		}
		settings[key] = value
	}
	return settings, nil
}

// SetSettings replaces all settings of the tenant at once.
func (h *handle) SetSettings(ctx context.Context, settings map[string]string) error {
	if err := h.begin(); err != nil {
		return err
	}
	defer h.end()
	stmts := []fenec.Statement{
		{Text: "create collection if not exists " + settingsCollection + " (key text required @unique, value text)"},
		{Text: "del " + settingsCollection},
	}
	for key, value := range settings {
		stmts = append(stmts, fenec.Statement{Text: "put " + settingsCollection + " {key: $1, value: $2}", Args: []any{key, value}})
	}
	if _, err := h.live.db.Batch(ctx, stmts); err != nil {
		h.failed(err)
		return fmt.Errorf("tenant %q: settings: %w", h.ID(), err)
	}
	return nil
}
