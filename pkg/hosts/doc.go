// Package hosts sets host agents up for the suite: the entry of the MCP server in a host's own configuration,
// and two skills that teach the host's model when to use it. The skills are inside the program.
//
// It owns what is written and how a configuration is changed: as text, so that comments, order and every
// other byte stay as they are. It plans changes and applies them; asking the user is its caller's work. Where
// a host keeps its files is known to package settings. A configuration that cannot be read, or whose changed
// text does not say exactly what was meant, is left alone.
package hosts
