package router

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec"
)

// store keeps the directory's rows. Each change is one statement that is on disk
// when the method returns. Calls are never concurrent.
type store interface {
	load() (nodes []Node, tenants []Tenant, err error)
	putNode(Node) error
	deleteNode(name string) error
	putTenant(Tenant) error
	deleteTenant(name string) error
	close() error
}

// fileStore is the store in a fenec database:
//
//	nodes    (name text @hash, addr text, token text)
//	tenants  (name text @hash, node text @hash, state text)
type fileStore struct{ db *fenec.DB }

// openFile opens the database at path, "" being one in memory, and creates the
// collections that it lacks.
func openFile(path string) (store, error) {
	db, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncAlways})
	if err != nil {
		return nil, err
	}
	s := &fileStore{db}
	for _, create := range []string{
		"create collection if not exists nodes (name text @hash, addr text, token text)",
		"create collection if not exists tenants (name text @hash, node text @hash, state text)",
	} {
		if _, err := s.exec(create); err != nil {
			db.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *fileStore) load() (nodes []Node, tenants []Tenant, err error) {
	type nodeRow struct{ Name, Addr, Token string }
	type tenantRow struct {
		Name, Node string
		State      *string
	}
	nodeRows, err := collect[nodeRow](s.db, "get name, addr, token from nodes")
	if err != nil {
		return nil, nil, err
	}
	for _, r := range nodeRows {
		nodes = append(nodes, Node{Name: r.Name, Addr: r.Addr, Token: NewToken(r.Token)})
	}
	tenantRows, err := collect[tenantRow](s.db, "get name, node, state from tenants")
	if err != nil {
		return nil, nil, err
	}
	for _, r := range tenantRows {
		t := Tenant{Name: r.Name, Node: r.Node}
		if r.State != nil {
			t.State = State(*r.State)
		}
		tenants = append(tenants, t)
	}
	return nodes, tenants, nil
}

func collect[T any](db *fenec.DB, statement string) ([]T, error) {
	res, err := db.Query(context.Background(), statement)
	if err != nil {
		return nil, err
	}
	return fenec.Collect[T](res)
}

func (s *fileStore) putNode(n Node) error {
	changed, err := s.exec("set nodes {addr: $2, token: $3} where name = $1", n.Name, n.Addr, n.Token.text())
	if err != nil || changed > 0 {
		return err
	}
	_, err = s.exec("put nodes {name: $1, addr: $2, token: $3}", n.Name, n.Addr, n.Token.text())
	return err
}

func (s *fileStore) deleteNode(name string) error {
	_, err := s.exec("del nodes where name = $1", name)
	return err
}

func (s *fileStore) putTenant(t Tenant) error {
	_, err := s.exec("put tenants {name: $1, node: $2, state: $3}", t.Name, t.Node, string(t.State))
	return err
}

func (s *fileStore) deleteTenant(name string) error {
	_, err := s.exec("del tenants where name = $1", name)
	return err
}

// exec runs one statement. It takes no context: a change that was begun is
// finished, whoever has stopped waiting for it.
func (s *fileStore) exec(statement string, args ...any) (int, error) {
	return s.db.Exec(context.Background(), statement, args...)
}

func (s *fileStore) close() error { return s.db.Close() }
