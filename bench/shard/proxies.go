package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// proxy is a program that forwards requests to a node: one thread, connections to
// the node kept, nothing logged.
type proxy struct {
	name   string
	args   []string // CONF stands for the file of its configuration, DIR for a directory
	config string   // and LISTEN and NODE for the two addresses
}

var proxies = []proxy{
	{name: "nginx", args: []string{"-p", "DIR", "-e", "DIR/nginx-errors", "-c", "CONF"}, config: `
daemon off;
master_process off;
error_log DIR/nginx-errors;
pid DIR/nginx.pid;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path DIR/nginx-body;
	proxy_temp_path DIR/nginx-proxy;
	fastcgi_temp_path DIR/nginx-fastcgi;
	uwsgi_temp_path DIR/nginx-uwsgi;
	scgi_temp_path DIR/nginx-scgi;
	keepalive_requests 1000000000;
	keepalive_timeout 1h;
	upstream node {
		server NODE;
		keepalive 128;
		keepalive_requests 1000000000;
	}
	server {
		listen LISTEN;
		location / {
			proxy_pass http://node;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`},
	{name: "haproxy", args: []string{"-db", "-f", "CONF"}, config: `
global
	nbthread 1
	maxconn 1024
defaults
	mode http
	timeout connect 5s
	timeout client 1h
	timeout server 1h
	http-reuse always
listen node
	bind LISTEN
	server node NODE
`},
}

// startProxies starts those that are installed, in front of a node.
func (e *env) startProxies(ctx context.Context, node string) ([]*server, error) {
	var started []*server
	for _, p := range proxies {
		bin, err := exec.LookPath(p.name)
		if err != nil {
			e.note("%s is not installed: left out", p.name)
			continue
		}
		s, err := e.startProxy(ctx, p, bin, node)
		if s != nil {
			started = append(started, s)
		}
		if err != nil {
			return started, err
		}
	}
	return started, nil
}

func (e *env) startProxy(ctx context.Context, p proxy, bin, node string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	args, err := p.configure(e.dir, addr, node)
	if err != nil {
		return nil, err
	}
	return startAt(ctx, addr, p.name, bin, args...)
}

// configure writes the file and returns the arguments.
func (p proxy) configure(dir, listen, node string) (args []string, err error) {
	file := filepath.Join(dir, p.name+".conf")
	fill := strings.NewReplacer("DIR", dir, "CONF", file, "LISTEN", listen, "NODE", node)
	for _, a := range p.args {
		args = append(args, fill.Replace(a))
	}
	return args, os.WriteFile(file, []byte(fill.Replace(p.config)), 0o600)
}
