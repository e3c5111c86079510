package feishu

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
)

var errCipher = errors.New("cannot be decrypted")

// decrypt opens an encrypted body: base64 of the iv and AES-256-CBC under the SHA-256 of the key, padded as
// PKCS#7.
func decrypt(key, text string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) < 2*aes.BlockSize || len(data)%aes.BlockSize != 0 {
		return nil, errCipher
	}
	sum := sha256.Sum256([]byte(key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, err
	}
	iv, body := data[:aes.BlockSize], data[aes.BlockSize:]
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(body, body)
	n := int(body[len(body)-1])
	if n == 0 || n > aes.BlockSize {
		return nil, errCipher
	}
	for _, b := range body[len(body)-n:] {
		if int(b) != n {
			return nil, errCipher
		}
	}
	return body[:len(body)-n], nil
}

// Sign is the signature of a request: the hex SHA-256 of timestamp, nonce, key and the body as it is sent.
func Sign(timestamp, nonce, key string, body []byte) string {
	h := sha256.New()
	h.Write([]byte(timestamp + nonce + key))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}
