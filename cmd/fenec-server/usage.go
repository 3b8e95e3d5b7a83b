package main

// usage is what -h prints.
const usage = `fenec-server serves fenec databases over HTTP.

  fenec-server                       a database in memory
  fenec-server --file books.fenec    one database
  fenec-server --dir tenants         a directory of tenants, at /t/<tenant>/

Data
  -f, --file <path>            the database file
      --dir <path>             the directory of tenants, made if missing
      --sync <policy>          when a write is on disk: always, off, or within
                               that many milliseconds (250)
      --changes <n>            how many changes are kept for those who follow
                               them (1000000), 64 MiB at most
      --cdc                    serve the feed of changes at /_changes
      --replication-buffer <MiB>  how much of it, and of what is for replicas, is
                               kept (64)
      --max-memory <MiB>       refuse to grow past that; 0 is no limit (0)
      --auto-compact <r>|off   rewrite a file when that share of it is free (0.5)
      --warm <all|off|list>    load vector graphs ahead, of all collections or
                               of those named, with commas (off)
      --no-checkpoint          leave the log on closing, to be replayed

A directory of tenants
      --idle-close <s>         close tenants unused for that long (300); 0 never
      --max-open <n>           tenants open at once; 0 is what the process's
                               limits allow (0)
      --max-in-flight <n>, --max-in-flight-tenant <n>
                               requests at work at once, of all tenants and of
                               one; 0 is no limit (0)
      --in-flight-wait <ms>    how long another waits for its turn (5000)
      --trash-keep <s>         how long a deleted tenant can come back (86400);
                               0 not at all
      --max-import <MiB>       the largest image taken; 0 is no limit (0)
      --lease                  write only what a router's lease names, for as
                               long as it lasts; needs --admin-token

Replication of a file or of a directory's tenants
      --replication-token <t>  keep writes for replicas on other servers, and be one;
                               the same on all; also FENEC_REPLICATION_TOKEN
      --replica-of <url>       follow the file, or be the standby of the directory,
                               that is served at http://host:port
      --promote                have a file take writes that has followed another
      --replicas-held <n>      answer a write when that many replicas have it on
                               disk; with 0 those that ask for it (not asked)

Listening
      --http <addr>            where to listen (127.0.0.1:8080); port 0 is any
      --metrics <addr>         where to serve /_metrics alone
      --tls-cert <path>        serve HTTPS and HTTP/2 with this certificate,
      --tls-key <path>         and this key; both are read again on change
      --max-connections <n>    clients at once (100), subscribers apart; 0 is no
                               limit
      --idle-timeout <s>       how long a client may be silent (60); 0 for ever

Access
      --http-token <t>         what requests must carry; also FENEC_HTTP_TOKEN
      --admin-token <t>        opens metrics and statistics, and turns on /_admin/
                               of a directory
      --http-read-only         refuse every write
      --http-cors <origin>     let pages of that origin ask; * is any
      --auth-delay <ms>        how long a refusal waits, doubled each time (100)
      --audit <path>           append refusals and changes of schemas to a file
      --studio                 does nothing yet: /_studio/ is 404
      --studio-connect <o>     does nothing yet
      --insecure               allow other machines in without a token

JSON Web Tokens
      --jwt-secret <s>         what they are signed with, 32 bytes at least; also
                               FENEC_JWT_SECRET
      --jwt-secret-file <path> a file that holds it
      --jwt-keys <path>        or a file of keys (JWKS); also FENEC_JWT_KEYS
      --policy <path>          what they allow; needed with any of these
      --jwt-require-exp on|off whether they must expire (on)
      --jwt-max-age <s>        how far ahead they may expire; 0 is no limit (0)
      --jwt-tenant-claim <n>   the claim that names their tenants (tenant)
      --jwt-unbound-tenants    let those without it reach every tenant
      --mint-token <claims>    print a token with these claims, then exit

Requests
      --http-max-streams <n>   subscriptions at once (64); 0 is no limit
      --http-keepalive <s>     how often a silent one is sent a comment (20)
      --idempotency-ttl <s>    how long idempotency keys are kept (86400)
      --statement-timeout <ms> how long a statement may run; 0 is no limit (0)
      --slow-ms <ms>           log statements that take that long
      --otlp-endpoint <url>    send traces to this collector; also
                               OTEL_EXPORTER_OTLP_ENDPOINT
      --otlp-header <n=v>      with this header; may be repeated
      --trace-sample <r>       the share of requests that is traced (1)

      --ping                   ask a running server for its health, then exit
  -h, --help                   this text
`
