package wording

import (
	"strings"
	"unicode"
)

// What the rules need to know of German, in which people ask and models answer. Its nouns have capital letters, its figures points where English has commas.

// German are its words that are no names.
var German = wordSet("ab aber alle als am an andere anderen anderer anderes auch auf aus bei beide beiden bereits bis bitte da dabei dafür damit danach dann das dass davon dazu dein deine dem den denn des dies diese dieser doch dort du durch ein eine einem einen einer er erst es für gerade gibt habe haben hier ich ihm ihn ihnen ihr ihre ihren ihrer im ist ja jetzt jede kann kein keine keinen können leider machen mal mehr mein meine mich mir mit nach nein nicht nichts noch nochmal nur oder ohne schon sehr sein seine seit sich sie sind sitzt sobald soll sonst um und uns unter viel viele vom von vor wann war was wer werden wegen welche welcher welches wenn werde wie wieder wieviel wird wir wo wurde wurden zeig zeige zu zuletzt zum zur zusammen zwischen über " +
	"herzliche herzlichen freundliche freundlichen lieber beste besten " +
	"aktuell bisher davon derzeit diesem diesen dieses einige etwa fällig gestern heute insgesamt jedoch jeweils jemand letzte letzten mehrere morgen nächste nächsten niemand noch offene offenen pro weitere weiteren weiterer rund sowie " +
	"bezahlt erledigt erstellt geschlossen hoch kritisch mittel niedrig überfällig " +
	"allerdings alles außerdem danach gemäß gesamt hierzu laut schließlich siehe zudem zuerst zunächst zweitens " +
	"zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")

// Measures are the nouns and numbers of German that come before other nouns: "15 Tage
// Urlaub", "Acht Berichte". No name has one.
var Measures = wordSet("tag tage tagen woche wochen monat monate monaten jahr jahre jahren stunde stunden minute minuten euro dollar prozent stück personen person " +
	"ein eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn zwanzig dreißig vierzig fünfzig hundert tausend " +
	"alle beide einige mehrere viele insgesamt zusammen dazu davon")

// shared are those of the words that English texts have too, in names or as words.
var shared = wordSet("ab am an da den der die des du er hat man um von zu war was bis")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// IsGerman reports whether a text has two different words of German, one of them of
// German alone. Any word in small letters with an umlaut is such a word.
func IsGerman(text string) bool {
	found, alone := map[string]bool{}, false
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		small := strings.ToLower(w)
		own := German[small] && !shared[small] && w[1:] == small[1:] || w == small && strings.ContainsAny(w, "äöüß")
		if own || German[small] {
			found[small], alone = true, alone || own
		}
	}
	return alone && len(found) > 1
}

// Participles are those that report a change, by its class.
var Participles = map[string]string{
	"gelöscht": "delete", "entfernt": "delete", "gekündigt": "delete", "genehmigt": "approve", "freigegeben": "approve", "abgelehnt": "reject", "geschlossen": "close", "gelöst": "close",
	"geändert": "update", "angepasst": "update", "aktualisiert": "update", "erhöht": "raise", "angehoben": "raise", "gesenkt": "lower", "gekürzt": "lower", "erstellt": "create", "angelegt": "create", "eingetragen": "create",
	"gesendet": "send", "geschickt": "send", "verschickt": "send", "informiert": "send", "benachrichtigt": "send", "eingereicht": "submit", "zugewiesen": "assign", "storniert": "undo", "gebucht": "book", "bezahlt": "pay", "überwiesen": "pay",
	"erledigt": "do", "durchgeführt": "do", "ausgeführt": "do",
}
