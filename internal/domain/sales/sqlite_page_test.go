package sales

// WalkAtMost lets walks of this store give up after n entries.
func (s *SQLite) WalkAtMost(n int) { s.walked = n }
