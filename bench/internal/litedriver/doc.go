// Package litedriver chooses the SQLite driver of the benches and registers it
// with database/sql: Name is what sql.Open takes, Description is for people.
package litedriver
