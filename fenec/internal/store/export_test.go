package store

// SetAside reports whether the image is read from a side file.
func (m *Image) SetAside() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.side != nil
}

// Held returns how many images are read from the base.
func (s *Store) Held() int {
	s.images.mu.Lock()
	defer s.images.mu.Unlock()
	return len(s.images.open)
}
