package plugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// The certificates of a connection. Both sides make one for it and trust no other, so a name and an
// authority are needed only for the form.
const (
	// clientCertEnv passes a plugin the certificate of the only client that it may serve.
	clientCertEnv = "PLUGIN_CLIENT_CERT"
	// certificateName is the name in the certificates of both sides.
	certificateName = "localhost"
	// certificateLife covers the longest run. certificateSlack covers a clock that is set back while the
	// plugin starts.
	certificateLife  = 30 * 365 * 24 * time.Hour
	certificateSlack = time.Minute
)

// newClientTLS creates a client certificate for the connections to one plugin. It returns their settings,
// which the certificate from the plugin's handshake completes, and the client's certificate in PEM form. The
// key is on the curve P-256: with one on P-521, which other engines use, a plugin would take twice the time
// to start.
func newClientTLS() (*tls.Config, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: certificateName},
		DNSNames:     []string{certificateName},
		NotBefore:    now.Add(-certificateSlack),
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},

		IsCA: true, BasicConstraintsValid: true, // it is its own authority
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion:   tls.VersionTLS12,
		ServerName:   certificateName,
		RootCAs:      x509.NewCertPool(), // a plugin that sends no certificate is not trusted
		// The second connection to a plugin resumes the session of the first: to verify a certificate of the
		// usual kind takes milliseconds.
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
	return config, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
