package main

// usage is what -h prints.
const usage = `fenec-shard forwards tenants' requests to the nodes that hold them.

  fenec-shard --directory shard.fenec --listen 127.0.0.1:8090
  fenec-shard ctl -h           for operators: ask a router that runs

  -l, --listen <addr>          where to listen (127.0.0.1:8090); port 0 is any
      --tls-cert <path>        serve HTTPS and HTTP/2 with this certificate,
      --tls-key <path>         and this key; both are read again on change
      --max-connections <n>    clients at once (1000); 0 is no limit
      --max-body <MiB>         the largest request body (64)
      --upstream-timeout <s>   how long a node may take to connect, and each time
                               to go on (60)

  -d, --directory <path>       the directory of nodes and tenants (shard.fenec),
                               made if missing
      --host-suffix <domain>   find tenants by host: <tenant>.<domain>
      --hosts <path>           further hosts, a line each with the host and its
                               tenant; read again on change
      --hold <ms>              how long a request may wait for a tenant that is
                               just being moved (500); 0 is not at all
      --moves <n>              tenants that move at once (2)
      --replicas               replicate each tenant to one more node, unless its
                               node has a standby (off)
      --auto-failover <s>      grant leases of this length to the nodes, and fail
                               over those that do not answer for longer (off)

      --replication-token <t>  let other routers follow this one's directory, and
                               follow with it; also FENEC_REPLICATION_TOKEN
      --replica-of <url>       follow the router at http://host:port: forward by its
                               directory, and change nothing
      --promote                take changes though the directory has followed
      --replication-buffer <MiB>
                               changes kept for routers that follow (8)

      --token <t>              what requests under /_shard/ and of /_metrics must
                               carry; also FENEC_SHARD_TOKEN. The nodes check
                               those of tenants
      --insecure               allow other machines in without a token
      --http-cors <origin>     let pages of this origin in, or * for all
      --auth-delay <ms>        how long the first refusal of a token waits (100);
                               each further one waits twice as long. 0 is off
      --audit <path>           add a line of JSON for each refused token and each
                               change under /_shard/

  -h, --help                   this text
`
