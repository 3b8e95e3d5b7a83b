package process

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// certify writes a certificate with the given serial number and its key.
func certify(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der},
		keyFile:  {Type: "PRIVATE KEY", Bytes: raw},
	} {
		require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
}

func TestCertificateFollowsItsFiles(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	var logged bytes.Buffer
	errorLog := log.New(&logged, "", 0)
	_, err := LoadCertificate(certFile, keyFile, errorLog)
	require.ErrorIs(t, err, os.ErrNotExist)

	certify(t, certFile, keyFile, 1)
	c, err := LoadCertificate(certFile, keyFile, errorLog)
	require.NoError(t, err)
	now := c.looked
	c.clock = func() time.Time { return now }
	serial := func() int64 {
		cert, err := c.Config().GetCertificate(nil)
		require.NoError(t, err)
		return cert.Leaf.SerialNumber.Int64()
	}
	// touch sets the files' times, as two writes may fall into one tick.
	touched := time.Now()
	touch := func() {
		touched = touched.Add(time.Hour)
		for _, name := range []string{certFile, keyFile} {
			require.NoError(t, os.Chtimes(name, touched, touched))
		}
	}
	require.EqualValues(t, 1, serial())

	certify(t, certFile, keyFile, 2)
	touch()
	require.EqualValues(t, 1, serial(), "they are not looked at again so soon")
	now = now.Add(time.Second)
	require.EqualValues(t, 2, serial())
	require.Empty(t, logged.String())

	require.NoError(t, os.WriteFile(keyFile, []byte("nonsense"), 0o600))
	touch()
	for range 3 {
		now = now.Add(time.Second)
		require.EqualValues(t, 2, serial(), "the last good one stays")
	}
	require.Equal(t, 1, bytes.Count(logged.Bytes(), []byte("the last one stays")), "it is told once")

	require.NoError(t, os.Remove(certFile))
	for range 3 {
		now = now.Add(time.Second)
		require.EqualValues(t, 2, serial())
	}
	require.Equal(t, 2, bytes.Count(logged.Bytes(), []byte("the last one stays")))

	certify(t, certFile, keyFile, 3)
	touch()
	now = now.Add(time.Second)
	require.EqualValues(t, 3, serial())
}
