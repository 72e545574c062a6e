package finance

import "time"

// SetClock replaces the clock of the server.
func (s *Server) SetClock(now func() time.Time) { s.now = now }

// Spread is how an approved amount is divided among quarters.
var Spread = distribute
