/*
Command openspace-registry is a skill community of your own: a server that keeps skills which agents upload, and finds and hands them out again.

Usage:

	openspace-registry COMMAND [flags] [ARGUMENT…]

Everything is kept in one directory, --data, by default $OPENSPACE_HOME/registry. No other service is needed. One server works on a directory; the other
commands may be used at any time, also while it runs.

	serve                          run the server until INT or TERM
	keys add NAME                  make a key for NAME and print it, the only time that it is shown
	keys list                      the keys, without what would let anybody use them
	keys revoke NAME|KEY_ID…       end the use of all keys of NAME, or of one key; a running server notices at once
	records list                   what was published; --owner NAME chooses
	records show ID…               all that is known of a record, and where its archive lies
	gc                             what nobody needs any more; with --force remove it
	verify                         check every line, every archive and every signature

# Keys

Every request needs a key, except those for /healthz, and those for the public skills below /.well-known/agent-skills/. A key belongs to its NAME: what it publishes is
owned by NAME, and a second key of the same NAME may change it. --scope says what it may do: read (see and download), write (publish too, and change
what is its own), admin (see and change everything). --group makes it a member of a group, whose skills it then sees.

# Server

It listens on 127.0.0.1:7788 unless --listen says otherwise; port 0 takes any free one. --addr-file gets the address it listens on, for scripts. On an address
that other machines can reach, TLS is wanted: --tls-cert and --tls-key name a certificate and its key as PEM files; behind a proxy that does it, --insecure
allows to go without. Each request is a line of JSON on stderr, with its id, which the client got as X-Request-Id. docs/registry-api.md tells what can be asked;
/metrics has figures for Prometheus.

Skills that the safety scan blocks do not become visible to anybody but their owner; --policy says what it blocks. With --require-signature the server takes signed
skills only. TERM or INT ends it when the requests under way are answered. Nothing that was acknowledged is lost in a crash.

# Files

docs/format-registry.md describes the directory. Except for serve, keys add, keys revoke and gc --force nothing is written.

# Exit status

	0    done
	1    what was named does not exist, or there is nothing to list
	2    usage: a flag, an argument or a setting is wrong
	3    partly done: some inputs have error records
	5    failed: anything else
	10   the directory is damaged
	11   another server works on the directory
	12   the directory's format is too new
	130  ended by an interrupt
	141  the reader of the output went away
	143  ended by a termination signal, after all requests were answered

# Examples

	openspace-registry serve --data ./community
	openspace-registry serve --data ./community --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
	openspace-registry keys add ann --data ./community --scope write --group research
	OPENSPACE_API_KEY=$(openspace-registry keys add ci --data ./community --plain | cut -f1)
	openspace-registry records list --data ./community --json
	openspace-registry verify --data ./community
*/
package main
