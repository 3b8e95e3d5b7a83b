package router

// failedTenant is a tenant that an operation on several has failed for, as answers have it.
// The tenant is null where it is about none.
type failedTenant struct {
	Tenant *string `json:"tenant"`
	Why    string  `json:"why"`
}

// body returns what is answered to a failover.
func (f FailedOver) body() any {
	failed := make([]failedTenant, len(f.Failed))
	for i, u := range f.Failed {
		failed[i] = failedTenant{nil, u.Why}
		if u.Tenant != "" {
			failed[i].Tenant = &f.Failed[i].Tenant
		}
	}
	if f.To == "" {
		return struct {
			Node         string         `json:"node"`
			Promoted     []Promoted     `json:"promoted"`
			Failed       []failedTenant `json:"failed"`
			Unreplicated []string       `json:"unreplicated"`
		}{f.Node, f.Promoted, failed, f.Unreplicated}
	}
	names, elsewhere := []string{}, []Promoted(nil)
	for _, p := range f.Promoted {
		if p.To == f.To {
			names = append(names, p.Tenant)
		} else {
			elsewhere = append(elsewhere, p)
		}
	}
	return struct {
		Node         string         `json:"node"`
		To           string         `json:"to"`
		Promoted     []string       `json:"promoted"`
		Elsewhere    []Promoted     `json:"elsewhere,omitempty"` // by their own replicas
		Failed       []failedTenant `json:"failed"`
		Unreplicated []string       `json:"unreplicated,omitempty"`
	}{f.Node, f.To, names, elsewhere, failed, f.Unreplicated}
}
