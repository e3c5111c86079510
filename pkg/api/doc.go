// Package api is what a skill registry and its clients must agree on: the JSON bodies of the community API,
// its paths, headers and error codes, the fingerprint of a skill's content, the rules for file names inside
// an artifact, the headers of a multipart part, and the signature over a skill.
//
// It opens no connection and no file. docs/registry-api.md describes the API that these types make up.
package api
