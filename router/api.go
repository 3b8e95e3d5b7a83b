package router

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fenec-go/fenecdb/quota"
)

// NewTenant says how a tenant is to be created. The zero value is an empty one without
// limits, on the node that is chosen.
type NewTenant struct {
	// Node is where it goes, whatever the node's attributes say. Empty is the one that
	// Options.Placer chooses.
	Node string
	// Schema is a description of its collections, an object in JSON. nil is none.
	Schema json.RawMessage
	// Quota are its limits.
	Quota quota.Limits
}

// Created is a tenant that was created.
type Created struct {
	Node string
	// Schema is what came of the schema, as JSON; nil if there was none.
	Schema json.RawMessage
	// ReplicaOn is the node that has a replica of it, "" for none.
	ReplicaOn string
	// Unreplicated is why it has none, of a router that gives one to each tenant.
	Unreplicated error
	// Standby is why the standby of its node has no copy of it yet, nil if it has one.
	Standby error
}

// SchemaError is a node's refusal of the schema of a tenant that was to be created.
type SchemaError struct {
	// Answer is what the node says of it, as JSON.
	Answer json.RawMessage
}

func (e *SchemaError) Error() string { return (&schemaRefusal{body: e.Answer}).Error() }

// Create makes a tenant with its quota and its schema, or none: what has been made of one
// whose creation fails is undone, in the background if it has to be, and also when ctx has
// ended. It fails with ErrName, ErrTenantExists, ErrUnknownNode, ErrDraining, ErrNoNodes,
// ErrNoneAnswers, ErrNoCapacity, ErrInProgress, ErrDirectory, with a *SchemaError, or with
// the *NodeError of a node that did not do its part.
func (rt *Router) Create(ctx context.Context, tenant string, as NewTenant) (Created, error) {
	if !ValidName(tenant) {
		return Created{}, ErrName
	}
	if err := checkLimits(as.Quota); err != nil {
		return Created{}, err
	}
	made, err := rt.create(ctx, creation{tenant: tenant, node: as.Node, schema: as.Schema, limits: as.Quota})
	var refused *schemaRefusal
	if errors.As(err, &refused) {
		return Created{}, &SchemaError{refused.body}
	}
	return made, err
}

// Delete puts a tenant into the trash of its node and forgets its place and its quota. It
// fails, with nothing forgotten, with ErrUnknownTenant, ErrInProgress, ErrDirectory, or if
// the node did not do it. Should ctx end meanwhile, Delete can be called again.
func (rt *Router) Delete(ctx context.Context, tenant string) error { return rt.remove(ctx, tenant) }
