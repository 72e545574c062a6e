package chunk

import (
	"bytes"
	"strings"
)

// firstWord returns the first word of a line, with a sign that belongs to it, and
// what is after it.
func firstWord(text []byte) (word, after []byte) {
	text = bytes.TrimLeft(text, " \t")
	i := 0
	for i < len(text) && text[i] != ' ' && text[i] != '\t' && text[i] != '(' && text[i] != '{' && text[i] != '<' && text[i] != '=' && text[i] != ':' && text[i] != ';' {
		i++
	}
	return text[:i], text[i:]
}

// lastPart reads a name such as run, Server.run, Server::run or \App\Server, and
// what is before its last part.
func lastPart(text []byte) (name, of string) {
	text = bytes.TrimLeft(text, " \t\\")
	i := 0
	for i < len(text) && (letter(text[i]) || text[i] == '.' || text[i] == ':' && i+1 < len(text) && (text[i+1] == ':' || i > 0 && text[i-1] == ':') || text[i] == '\\' || text[i] == '~' || text[i] == '$') {
		i++
	}
	whole := bytes.Trim(text[:i], ".:\\")
	if j := bytes.LastIndexAny(whole, ".:\\"); j >= 0 {
		owner := bytes.TrimRight(whole[:j], ".:\\")
		if k := bytes.LastIndexAny(owner, ".:\\"); k >= 0 {
			owner = owner[k+1:]
		}
		return string(whole[j+1:]), string(owner)
	}
	return string(whole), ""
}

func letter(c byte) bool {
	return c == '_' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// lastWord is the word that a text ends with.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && letter(text[i-1]) {
		i--
	}
	return string(text[i:])
}

// notNames are words before a parenthesis that define nothing.
var notNames = set("if for while switch catch return else do try throw new sizeof typeof await yield case delete assert super this elif using lock foreach with unless until synchronized when match guard func function in not and or is as")

// set makes a set of space-separated words.
func set(list string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(list) {
		all[word] = true
	}
	return all
}
