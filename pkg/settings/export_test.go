package settings

// ParseDocument reads a host's file.
var ParseDocument = parseDocument
