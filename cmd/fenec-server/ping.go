package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"
)

// ping asks a running server for its health.
func ping(cfg config) error {
	host, port, err := net.SplitHostPort(cfg.listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	client := http.Client{Timeout: 3 * time.Second}
	if cfg.tls.cert != "" {
		scheme = "https"
		// The certificate names the server's public name, not this address, and
		// nothing secret is asked or told.
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	}
	res, err := client.Get(scheme + "://" + net.JoinHostPort(host, port) + "/_health")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("health is %s", res.Status)
	}
	return nil
}
