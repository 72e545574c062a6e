package hr

import "time"

// SetClock makes the server live at another moment.
func (s *Server) SetClock(now func() time.Time) { s.now = now }
