// Package problem is the list of the words by which programs tell refusals apart: the
// "code" of an answer, with the status that it comes with and the wait it asks for.
// Whatever answers over HTTP takes them from here.
package problem

import "net/http"

// Problem is a refusal that has a word.
type Problem struct {
	Code   string
	Status int
	Wait   int // seconds until another try may do; 0 if waiting does not help
}

// Wait is how many seconds to wait after a 503 of which nothing else is known.
const Wait = 1

// The problems.
var (
	UnknownTenant      = list("unknown-tenant", http.StatusNotFound, 0)
	TenantDegraded     = list("tenant-degraded", http.StatusServiceUnavailable, Wait)
	TenantProvisioning = list("tenant-provisioning", http.StatusServiceUnavailable, Wait)
	TenantFrozen       = list("tenant-frozen", http.StatusServiceUnavailable, Wait) // it has not run
	NoLease            = list("no-lease", http.StatusServiceUnavailable, Wait)      // it has not run
	LeaseSuperseded    = list("lease-superseded", http.StatusConflict, 0)
	LeaseRunning       = list("lease-running", http.StatusConflict, 0)
	OutcomeUnknown     = list("outcome-unknown", http.StatusServiceUnavailable, Wait) // it has run, and may be lost
	TenantReplica      = list("tenant-replica", http.StatusForbidden, 0)              // it follows another, and takes no writes
	NotReplicated      = list("not-replicated", http.StatusGatewayTimeout, 0)         // it stands, on fewer disks than it should
	RouterFollows      = list("router-follows", http.StatusConflict, 0)               // its primary is to be asked
	NoCapacity         = list("no-capacity", http.StatusConflict, 0)
)

var all []Problem

// list makes a problem one of All.
func list(code string, status, wait int) Problem {
	p := Problem{code, status, wait}
	all = append(all, p)
	return p
}

// All returns the problems, in the order of this file.
func All() []Problem { return all }
