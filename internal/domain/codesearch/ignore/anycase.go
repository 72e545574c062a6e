package ignore

// AnyCase says that capital and small ASCII letters are the same, as git's core.ignoreCase does.
type AnyCase bool

// cased is a text as it is compared. To git it is bytes.
func (a AnyCase) cased(text string) string {
	if !a {
		return text
	}
	b := []byte(text)
	for i := range b {
		b[i] = a.byte(b[i])
	}
	return string(b)
}

func (a AnyCase) byte(c byte) byte {
	if a && 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}
