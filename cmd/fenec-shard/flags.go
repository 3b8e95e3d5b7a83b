package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/router"
)

// config is what the flags say.
type config struct {
	listen, directory string
	insecure          bool
	options           router.Options
}

func (c config) guard() process.Guard {
	return process.Guard{Token: !c.options.Token.IsZero(), Insecure: c.insecure, TokenFlag: "--token"}
}

// usage is what -h prints.
const usage = `fenec-shard forwards tenants' requests to the nodes that hold them.

  fenec-shard --directory shard.fenec --listen 127.0.0.1:8090

  -l, --listen <addr>          where to listen (127.0.0.1:8090); port 0 is any
  -d, --directory <path>       the directory of nodes and tenants (shard.fenec),
                               made if missing
      --token <t>              what requests under /_shard/ must carry; also
                               FENEC_SHARD_TOKEN. The nodes check those of /t/
      --max-connections <n>    clients at once (1000); 0 is no limit
      --max-body <MiB>         the largest request body (64)
      --upstream-timeout <s>   how long a node may take to connect, and each time
                               to go on (60)
      --insecure               allow other machines in without a token
  -h, --help                   this text
`

func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	var token string
	var connections, body, timeout int
	fs := flag.NewFlagSet("fenec-shard", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, name := range []string{"l", "listen"} {
		fs.StringVar(&cfg.listen, name, "127.0.0.1:8090", "")
	}
	for _, name := range []string{"d", "directory"} {
		fs.StringVar(&cfg.directory, name, "shard.fenec", "")
	}
	fs.StringVar(&token, "token", os.Getenv("FENEC_SHARD_TOKEN"), "")
	fs.IntVar(&connections, "max-connections", router.DefaultMaxConnections, "")
	fs.IntVar(&body, "max-body", router.DefaultMaxBody>>20, "")
	fs.IntVar(&timeout, "upstream-timeout", int(router.DefaultUpstreamTimeout/time.Second), "")
	fs.BoolVar(&cfg.insecure, "insecure", false, "")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return cfg, process.ErrHelp
	} else if err != nil {
		return cfg, err
	}
	switch {
	case fs.NArg() > 0:
		return cfg, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case cfg.directory == "":
		return cfg, errors.New("--directory must not be empty")
	case connections < 0:
		return cfg, errors.New("--max-connections must not be negative")
	case body <= 0 || body > maxMiB:
		return cfg, fmt.Errorf("--max-body must be from 1 to %d", maxMiB)
	case timeout <= 0 || timeout > maxSeconds:
		return cfg, fmt.Errorf("--upstream-timeout must be from 1 to %d", maxSeconds)
	}
	if connections == 0 {
		connections = -1
	}
	cfg.options = router.Options{
		Token:           router.NewToken(token),
		MaxConnections:  connections,
		MaxBody:         int64(body) << 20,
		UpstreamTimeout: time.Duration(timeout) * time.Second,
	}
	return cfg, nil
}

// The largest values of flags, well before anything overflows.
const (
	maxMiB     = 1 << 20
	maxSeconds = 1 << 20
)
