package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/process"
)

// config is what the flags say.
type config struct {
	file, dir  string
	http       string
	token      serve.Secret
	adminToken serve.Secret
	insecure   bool
	ping       bool
	idleClose  time.Duration
	db         fenec.Options
}

func (c config) guard() process.Guard {
	return process.Guard{Token: c.token != "", Insecure: c.insecure, TokenFlag: "--http-token"}
}

// usage is what -h prints.
const usage = `fenec-server serves fenec databases over HTTP.

  fenec-server                       a database in memory
  fenec-server --file books.fenec    one database
  fenec-server --dir tenants         a directory of tenants, at /t/<tenant>/

  -f, --file <path>       the database file
      --dir <path>        the directory of tenants, made if missing
      --http <addr>       where to listen (127.0.0.1:8080); port 0 is any
      --http-token <t>    what requests must carry; also FENEC_HTTP_TOKEN
      --admin-token <t>   turns on /_admin/ of a directory
      --sync <policy>     when a write is on disk: always, off, or within
                          that many milliseconds (250)
      --changes <n>       how many changes are kept for those who follow them
                          (1000000), 64 MiB at most
      --idle-close <s>    close tenants unused for that long (300); 0 never
      --no-checkpoint     leave the log on closing, to be replayed
      --insecure          allow other machines in without a token
      --ping              ask a running server for its health, then exit
  -h, --help              this text
`

func parse(args []string, stderr io.Writer) (config, error) {
	cfg := config{token: serve.Secret(os.Getenv("FENEC_HTTP_TOKEN"))}
	var token, adminToken string
	var idle, changes int
	fs := flag.NewFlagSet("fenec-server", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&cfg.file, "f", "", "")
	fs.StringVar(&cfg.file, "file", "", "")
	fs.StringVar(&cfg.dir, "dir", "", "")
	fs.StringVar(&cfg.http, "http", "127.0.0.1:8080", "")
	fs.StringVar(&token, "http-token", "", "")
	fs.StringVar(&adminToken, "admin-token", "", "")
	fs.IntVar(&changes, "changes", 1_000_000, "")
	fs.IntVar(&idle, "idle-close", 300, "")
	fs.BoolVar(&cfg.db.NoCheckpoint, "no-checkpoint", false, "")
	fs.BoolVar(&cfg.insecure, "insecure", false, "")
	fs.BoolVar(&cfg.ping, "ping", false, "")
	fs.Func("sync", "", func(s string) (err error) {
		cfg.db.Sync, err = fenec.ParseSync(s)
		return err
	})
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return cfg, process.ErrHelp
	} else if err != nil {
		return cfg, err
	}
	if token != "" {
		cfg.token = serve.Secret(token)
	}
	cfg.adminToken = serve.Secret(adminToken)
	cfg.idleClose = time.Duration(idle) * time.Second
	if idle == 0 {
		cfg.idleClose = -1
	}
	cfg.db.HistoryEntries = changes
	return cfg, cfg.check(fs.Args(), idle, changes)
}

// check refuses flags that contradict each other.
func (c config) check(rest []string, idle, changes int) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case c.file != "" && c.dir != "":
		return errors.New("--file and --dir exclude each other")
	case c.adminToken != "" && c.dir == "":
		return errors.New("--admin-token needs --dir")
	case changes < 1:
		return errors.New("--changes must be 1 at least")
	case idle < 0:
		return errors.New("--idle-close must not be negative")
	}
	return nil
}
