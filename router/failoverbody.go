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
	names := make([]string, len(f.Promoted))
	for i, p := range f.Promoted {
		names[i] = p.Tenant
	}
	return struct {
		Node     string         `json:"node"`
		To       string         `json:"to"`
		Promoted []string       `json:"promoted"`
		Failed   []failedTenant `json:"failed"`
	}{f.Node, f.To, names, failed}
}
