package relay

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
)

// Tokens of three parts, signed with RS256. No other algorithm is known here, so that none
// can be talked into use.

var urlBase64 = base64.RawURLEncoding

type jwtHeader struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ,omitempty"`
	Key       string `json:"kid,omitempty"`
}

// signJWT signs claims; id names the key, where it has a name.
func signJWT(key *rsa.PrivateKey, id string, claims any) (string, error) {
	header, err := json.Marshal(jwtHeader{Algorithm: "RS256", Type: "JWT", Key: id})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := urlBase64.EncodeToString(header) + "." + urlBase64.EncodeToString(body)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		return "", err
	}
	return text + "." + urlBase64.EncodeToString(signature), nil
}

var errToken = errors.New("it is no token with a signature that fits")

// openJWT checks the signature by the key that the token names, and reads the claims.
func openJWT(token string, keyOf func(id string) *rsa.PublicKey, claims any) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errToken
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = urlBase64.DecodeString(part); err != nil {
			return errToken
		}
	}
	var header jwtHeader
	if json.Unmarshal(raw[0], &header) != nil || header.Algorithm != "RS256" {
		return errToken
	}
	key := keyOf(header.Key)
	if key == nil {
		return errToken
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], raw[2]) != nil || json.Unmarshal(raw[1], claims) != nil {
		return errToken
	}
	return nil
}

// parseKey reads a private key as GitHub gives it, or in PKCS #8.
func parseKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is no PEM file")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if key, ok := parsed.(*rsa.PrivateKey); ok && err == nil {
		return key, nil
	}
	return nil, errors.New("it holds no RSA private key")
}
