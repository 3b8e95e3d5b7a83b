package node

import "encoding/json"

// stats returns the body of GET /_admin/stats.
func (n *Node) stats() ([]byte, error) {
	st, err := n.tenants.Stats()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Tenants int   `json:"tenants"`
		Disk    int64 `json:"disk"`
		Memory  int64 `json:"memory"`
		Open    int   `json:"open"`
	}{st.Tenants, st.Disk, st.Memory, st.Open})
}

// names returns the body of GET /_admin/tenants.
func (n *Node) names() ([]byte, error) {
	names, err := n.tenants.List()
	if err != nil {
		return nil, err
	}
	if names == nil {
		names = []string{}
	}
	return json.Marshal(names)
}

// sizes returns the body of GET /_admin/sizes.
func (n *Node) sizes() ([]byte, error) {
	sizes, err := n.tenants.Sizes()
	if err != nil {
		return nil, err
	}
	return json.Marshal(sizes)
}
