package app

import (
	"crypto/tls"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/auth"
	"countersign.dev/internal/config"
	"countersign.dev/internal/dependency"
	"countersign.dev/internal/testkit/certtest"
)

func sealingKeys(t *testing.T, sealing map[string][]string) processKeys {
	t.Helper()
	keys, err := keysOf(&config.Config{Keys: config.Keys{Sealing: sealing}})
	must(t, err)
	return keys
}

func TestEachServerOpensOnlyItsOwn(t *testing.T) {
	keys, err := demoKeys(t.TempDir())
	must(t, err)
	hr, err := keys.ring("hr", "cursor")
	must(t, err)
	sealed := hr.Seal([]byte("x"), nil)
	for _, other := range [][2]string{{"finance", "cursor"}, {gatewayName, "cursor"}, {"hr", "cookie"}} {
		ring, err := keys.ring(other[0], other[1])
		must(t, err)
		if _, err := ring.Open(sealed, nil); err == nil {
			t.Errorf("%v opened HR's cursor", other)
		}
	}
	if _, err := keys.ring("unknown", "cursor"); err == nil {
		t.Error("a name without a secret got a ring")
	}
}

func TestDemoKeepsItsKeys(t *testing.T) {
	folder := t.TempDir()
	first, err := demoKeys(folder)
	must(t, err)
	second, err := demoKeys(folder)
	must(t, err)
	sealing, err := first.ring("hr", "cursor")
	must(t, err)
	opening, err := second.ring("hr", "cursor")
	must(t, err)
	if _, err := opening.Open(sealing.Seal([]byte("kept"), nil), nil); err != nil {
		t.Errorf("the secret was not kept: %v", err)
	}
}

func TestReplicasChangeSecretsOneAfterTheOther(t *testing.T) {
	const before, after = "the old secret of at least 32 bytes", "the new secret of at least 32 bytes"
	old, err := sealingKeys(t, map[string][]string{"hr": {before}}).ring("hr", "cursor")
	must(t, err)
	both, err := sealingKeys(t, map[string][]string{"hr": {after, before}}).ring("hr", "cursor")
	must(t, err)
	only, err := sealingKeys(t, map[string][]string{"hr": {after}}).ring("hr", "cursor")
	must(t, err)
	sealed := old.Seal([]byte("x"), nil)
	if _, err := both.Open(sealed, nil); err != nil {
		t.Errorf("during the change: %v", err)
	}
	if _, err := only.Open(sealed, nil); err == nil {
		t.Error("the dropped secret still opens")
	}
	if _, err := only.Open(both.Seal([]byte("x"), nil), nil); err != nil {
		t.Errorf("the first secret does not seal: %v", err)
	}
}

func TestWeakKeysAreRefusedByName(t *testing.T) {
	for want, keys := range map[string]config.Keys{
		"keys.sealing.hr: ": {Sealing: map[string][]string{"hr": {"only-thirty-one-bytes-of-CANARY!"[:31]}}},
		"keys.signing: ":    {Signing: []string{"CANARY"}},
	} {
		_, err := keysOf(&config.Config{Keys: keys})
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestConfiguredCertificatesAreServed serves a domain as `serve` does, with the
// process's certificate and with the server's own, and reaches it over TLS.
func TestConfiguredCertificatesAreServed(t *testing.T) {
	t.Parallel()
	folder, own := t.TempDir(), t.TempDir()
	cert, key := certtest.Files(t, folder, "process")
	ownCert, ownKey := certtest.Files(t, own, "own")
	redis := miniredis.RunT(t)
	pl := platformOn(t, "redis://"+redis.Addr())
	pl.keys = sealingKeys(t, map[string][]string{"sales": {strings.Repeat("s", 32)}, "support": {strings.Repeat("t", 32)}})
	conf := &config.Config{
		TLS:     config.TLS{Cert: cert, Key: key},
		Keys:    config.Keys{Sealing: map[string][]string{"sales": {strings.Repeat("x", 32)}, "support": {strings.Repeat("x", 32)}}},
		Issuer:  signingIn("https://id.example.com"),
		Gateway: config.Gateway{URL: "http://localhost:1"},
		Servers: map[string]config.Server{
			"sales":   {Listen: freeAddress(t), URL: "https://localhost", TLS: config.TLS{Cert: ownCert, Key: ownKey}},
			"support": {Listen: freeAddress(t), URL: "https://support.example.com"},
		},
		Databases: map[string]config.Database{"sales": {URL: "sqlite:" + filepath.Join(folder, "s.db")}, "support": {URL: "sqlite:" + filepath.Join(folder, "t.db")}},
	}
	for name, want := range map[string]string{"sales": "own", "support": "process"} {
		d, _ := domainNamed(name)
		must(t, pl.serveConfigured(t.Context(), d, conf))
		conn, err := tls.Dial("tcp", conf.Servers[name].Listen, &tls.Config{InsecureSkipVerify: true}) // the name is what is compared
		must(t, err)
		if got := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; got != want {
			t.Errorf("%s: got the certificate %q, want %q", name, got, want)
		}
		must(t, conn.Close())
	}
	var said strings.Builder
	if dependency.Print(t.Context(), &said, certificates(conf)) {
		t.Errorf("a certificate for another host is fine:\n%s", said.String())
	}
	for _, want := range []string{"certificate of sales is valid until ", "days left: 0", "is not for the host support.example.com"} {
		if !strings.Contains(strings.Join(strings.Fields(said.String()), " "), want) {
			t.Errorf("%q is missing in:\n%s", want, said.String())
		}
	}
	for days, want := range map[int]string{-1: "begins on", 2: "ended on"} {
		if _, err := dependency.Certificate(cert, key, "https://localhost", time.Now().AddDate(0, 0, days)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in %d days: got %v, want %q", days, err, want)
		}
	}
	conf.Servers["sales"] = config.Server{Listen: freeAddress(t), TLS: config.TLS{Cert: cert, Key: ownKey}}
	d, _ := domainNamed("sales")
	if err := pl.serveConfigured(t.Context(), d, conf); err == nil || !strings.Contains(err.Error(), "cannot be used together") {
		t.Errorf("a key of another certificate: got %v", err)
	}
}

// freeAddress is an address at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	return strings.TrimPrefix(closedAddress(t), "http://")
}

func TestServersTakeTheConfiguredAudienceOrTheirName(t *testing.T) {
	for configured, want := range map[string]string{"": "hr", "https://api.example.com": "https://api.example.com"} {
		conf := &config.Config{Issuer: config.SigningIn{
			Issuer:     config.Issuer{URL: "https://id.example.com", Audience: configured},
			Additional: []config.Additional{{Issuer: config.Issuer{URL: "https://b.example.com"}}},
		}}
		got := audience(issuersOf(conf), "hr")
		if len(got) != 2 || !slices.Equal(got[0].Audiences, []string{want}) || !slices.Equal(got[1].Audiences, []string{"hr"}) {
			t.Errorf("configured %q: got %+v", configured, got)
		}
	}
}

// An additional issuer speaks for the addresses and roles that it is given alone: for none
// by default. The first one speaks for all.
func TestAdditionalIssuersSpeakForNothingByDefault(t *testing.T) {
	named := config.Additional{Issuer: config.Issuer{URL: "https://c.example.com"}, EmailDomains: []string{"partner.example"}, RolesAllowed: []string{"employee"}}
	got := issuersOf(&config.Config{Issuer: config.SigningIn{
		Issuer: config.Issuer{URL: "https://id.example.com"}, Additional: []config.Additional{{Issuer: config.Issuer{URL: "https://b.example.com"}}, named},
	}})
	want := []*auth.Authority{nil, {}, {EmailDomains: []string{"partner.example"}, Roles: []string{"employee"}}}
	for i, c := range got {
		if !reflect.DeepEqual(c.Authority, want[i]) {
			t.Errorf("%s: got %+v, want %+v", c.URL, c.Authority, want[i])
		}
	}
}
