package transfer

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"github.com/openspace-dev/openspace/pkg/wire"
)

// ReadSignKey reads an Ed25519 key from a PEM file in the form of PKCS #8, as openssl genpkey writes it.
func ReadSignKey(path string) (ed25519.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, wire.Errorf(wire.Usage, "read signing key: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, badKey(path, "it is no PEM file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, badKey(path, "it is no PKCS #8 key")
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, badKey(path, fmt.Sprintf("it is a %T", key))
	}
	return private, nil
}

func badKey(path, why string) error {
	return wire.Errorf(wire.Usage, "signing key %q: %s", path, why).WithHint("openssl genpkey -algorithm ed25519 -out %s", path)
}
