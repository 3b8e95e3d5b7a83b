package jwt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
	"github.com/fenec-go/fenecdb/internal/secret"
)

func TestASecretDoesNotPrint(t *testing.T) {
	o := secretOptions(t, newClock())
	k, err := jwt.Open(o)
	require.NoError(t, err)
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, x := range []any{o.Secret, &o.Secret, o, &o, k, []any{o.Secret}} {
			fmt.Fprintf(&out, verb, x)
		}
	}
	require.NoError(t, json.NewEncoder(&out).Encode(o.Secret))
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", o.Secret)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", o.Secret)
	for _, leak := range []string{secretText[:8], fmt.Sprintf("%x", secretText[:8]), "48 49 50", "0x30, 0x31"} {
		require.NotContains(t, out.String(), leak)
	}
	require.Contains(t, out.String(), "[redacted]")
}

func TestSecrets(t *testing.T) {
	o := secretOptions(t, newClock())
	o.Secret = secret.New(secretText[:31])
	_, err := jwt.Open(o)
	require.ErrorContains(t, err, "32 are needed")
	require.NotContains(t, err.Error(), secretText[:4])
	o.Secret = secret.New(secretText[:32])
	_, err = jwt.Open(o)
	require.NoError(t, err)
	o.Secret = secret.Token{}
	_, err = jwt.Open(o)
	require.ErrorContains(t, err, "either a secret or a key file")
}
