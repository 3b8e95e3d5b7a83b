package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/process"
)

// open reads the keys and the policy. What is wrong with them ends the start as a
// wrong flag does.
func (j jwtConfig) open(errorLog *log.Logger) (*serve.Tokens, error) {
	o := serve.TokenOptions{
		Secret:        j.secret,
		KeyFile:       j.keys,
		AllowUnending: !j.requireExp,
		MaxAge:        j.maxAge,
		TenantClaim:   j.tenantClaim,
		AllowUnbound:  j.unbound,
		ErrorLog:      errorLog,
	}
	if j.secretFile != "" {
		text, err := os.ReadFile(j.secretFile)
		if err != nil {
			return nil, &process.UsageError{Err: err}
		}
		o.Secret = serve.NewSecret(strings.TrimRight(string(text), "\r\n"))
	}
	if j.policy != "" {
		text, err := os.ReadFile(j.policy)
		if err != nil {
			return nil, &process.UsageError{Err: err}
		}
		o.Policy = string(text)
	}
	tokens, err := serve.OpenTokens(o)
	if err != nil {
		return nil, &process.UsageError{Err: err}
	}
	return tokens, nil
}

// mint prints a token.
func mint(j jwtConfig, stdout io.Writer) error {
	tokens, err := j.open(nil)
	if err != nil {
		return err
	}
	token, err := tokens.Mint(j.mint)
	if err != nil {
		return &process.UsageError{Err: err}
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}
