package main

import (
	"io"
	"net"
	"testing"
	"time"
)

// What is sent while a cable is cut arrives once it is mended, over the same connection.
func TestCable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn) }()
		}
	}()
	c, err := newCable(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	conn, err := net.Dial("tcp", c.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	echo := func(text string, within time.Duration) error {
		if _, err := conn.Write([]byte(text)); err != nil {
			return err
		}
		_ = conn.SetReadDeadline(time.Now().Add(within))
		got := make([]byte, len(text))
		_, err := io.ReadFull(conn, got)
		return err
	}
	if err := echo("before", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	c.cut()
	if err := echo("meanwhile", 50*time.Millisecond); err == nil {
		t.Error("a cut cable lets something through")
	}
	c.mend()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, len("meanwhile"))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "meanwhile" {
		t.Errorf("got %q, %v", got, err)
	}
}
