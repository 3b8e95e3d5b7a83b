package tenant

import "time"

// CloseIdle is the pass that runs every second.
func (m *Manager) CloseIdle(now time.Time) { m.closeIdle(now) }
