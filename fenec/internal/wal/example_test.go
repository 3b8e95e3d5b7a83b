package wal_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

func Example() {
	opts := wal.Options{FS: waltest.NewMem()} // leave out for real files
	base := [16]byte{0xac, 0x3e}

	l, err := wal.Create("acme.fenec-log", wal.Header{Base: base}, opts)
	if err != nil {
		log.Fatal(err)
	}
	end, err := l.Append(wal.Block{From: 1, To: 2, Payload: []byte("two documents")})
	if err != nil {
		log.Fatal(err)
	}
	if err := l.SyncTo(context.Background(), end); err != nil {
		log.Fatal(err)
	}
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}

	l, found, err := wal.Open("acme.fenec-log", base, opts, func(b *wal.Block) error {
		fmt.Printf("%d to %d: %s\n", b.From, b.To, b.Payload)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("last:", found.Last)
	if err := l.CloseClean(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 to 2: two documents
	// last: 2
}
