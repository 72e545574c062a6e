package admission

// Admitted reports whether the work has a slot.
func (w *Work) Admitted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ticket != nil
}
