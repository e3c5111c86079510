package registry

// Operations lists the operations of the server as method and path, for the test of docs/openapi.json.
func (s *Server) Operations() (out []string) {
	for _, r := range s.routes {
		out = append(out, r.method+" "+r.path)
	}
	return out
}
