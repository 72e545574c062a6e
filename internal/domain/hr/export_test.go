package hr

import "time"

// SetClock replaces the clock of the server.
func (s *Server) SetClock(now func() time.Time) { s.now = now }
