// Package rest has what channels share that reach their platform by HTTP: a client, forms with files, downloads, which
// addresses may have a token, the keeping of a connection, and the gate of a webhook.
package rest
