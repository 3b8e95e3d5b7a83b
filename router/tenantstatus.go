package router

import (
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/tenant"
)

// putStatus answers PUT /_shard/tenants/<tenant>/status.
func (rt *Router) putStatus(r *http.Request, name string) (answer, error) {
	if _, err := rt.placedOn(name); err != nil {
		return answer{}, err
	}
	a := struct {
		Tenant string `json:"tenant"`
		Status string `json:"status"`
		Why    string `json:"why,omitempty"`
	}{Tenant: name}
	if err := readMembers(r, members{"status": textTo(&a.Status), "why": textTo(&a.Why)}); err != nil {
		return answer{}, err
	}
	status, err := tenant.ParseStatus(a.Status)
	if err != nil {
		return answer{}, refusing(http.StatusBadRequest, err.Error())
	}
	if err := rt.SetStatus(name, status, a.Why); err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{http.StatusOK, a}, nil
}

// SetStatus records whether a tenant is to be served, as somebody has decided. Its node is
// not told. Why it is goes to the log. It fails with ErrUnknownTenant, ErrDirectory, or with
// ErrInProgress while another operation runs on the tenant: a creation would go on to set
// its own.
func (rt *Router) SetStatus(name string, status tenant.Status, why string) error {
	release, err := rt.directory.Claim(name)
	if err != nil {
		return err
	}
	defer release()
	if err := rt.directory.SetStatus(name, status); err != nil {
		return err
	}
	rt.degradations.forget(name)
	rt.logf("tenant %s: its status is %s: %q", name, status, why)
	return nil
}
