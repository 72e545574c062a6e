package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestPlainTransportIsForLoopbackOnly(t *testing.T) {
	const http, database, embeddings, store = "servers.hr.url", "databases.hr.url", "codesearch.embeddings.base_url", "codesearch.store"
	for _, test := range []struct {
		key, value, want string // want empty: accepted
	}{
		{"public_url", "http://localhost:3100", ""},
		{"public_url", "https://countersign.example.com", ""},
		{"public_url", "http://countersign.example.com", "write https://"},
		{http, "http://127.0.0.53:1", ""},
		{http, "http://[::1]:3101", ""},
		{http, "http://10.0.0.7:3101", "write https://"},
		{http, "http://hr", "write https://"},
		{http, "http://localhost.example.com:3101", "write https://"},
		{http, "http://127.0.0.1@10.0.0.7", "write https://"},
		{http, "http://0.0.0.0:3101", "write https://"},
		{http, "hr.example.com", "begins with https://"},
		{http, "ftp://hr.example.com", "begins with https://"},
		{"gateway.url", "http://gateway.example.com", "write https://"},
		{"gateway.public_url", "http://gateway.example.com", "write https://"},
		{"gateway.public_url", "http://localhost:3100", ""},
		{"issuer.url", "http://id.example.com", "write https://"},
		{embeddings, "http://127.0.0.1:11434/v1", ""},
		{embeddings, "https://embeddings.example.com/v1", ""},
		{embeddings, "http://embeddings.example.com/v1", "write https://"},
		{embeddings, "file:///v1", "begins with https://"},
		{embeddings, "embeddings", "begins with https://"},
		{store, "http://127.0.0.1:9200", ""},
		{store, "https://a:secret@search.example.com:9200,https://b.example.com:9200", ""},
		{store, "http://search.example.com:9200", "write https://"},
		{store, "https://a.example.com:9200,http://b.example.com:9200", "write https://"},
		{store, "index:/var/code", "begins with https://"},
		{"redis.url", "redis://localhost:6379", ""},
		{"redis.url", "redis://cache:6379#@localhost/0", "written %23"}, // a reader that cuts at # connects to cache
		{"redis.url", "redis://:secret@cache:6379/0", "write rediss://"},
		{"redis.url", "rediss://:secret@cache:6379/0", ""},
		{"redis.url", "rediss://cache:6379?skip_verify=true", "leave skip_verify out"},
		{"redis.url", "https://cache:6379", "begins with rediss://"},
		{database, "postgres://a:secret@localhost/x", ""},
		{database, "postgres://a:secret@db/x", "add sslmode=verify-full"},
		{database, "postgres://a:secret@db/x?sslmode=require", "add sslmode=verify-full"},
		{database, "postgres://a:secret@db/x?sslmode=verify-full", ""},
		{database, "postgres://a:secret@db/x?sslmode=disable&sslmode=verify-full", "add sslmode=verify-full"},
		{database, "postgres://a:secret@localhost,db/x", "add sslmode=verify-full"},
		{database, "postgres://a:secret@localhost/x?host=db", "add sslmode=verify-full"},
		{database, "postgres:///x?host=/run/postgresql", ""},
		{database, "postgres:///x", "must name a host"},
		{database, "host=db user=a", "begins with postgres://"},
		{database, "postgres://db#@localhost/x", "written %23"},
		{database, "mongodb://127.0.0.1:27017", ""},
		{database, "mongodb://db:27017,127.0.0.1:27018", "add tls=true"},
		{database, "mongodb://a:secret@db:27017/?TLS=true", ""},
		{database, "mongodb://db?tls=true&tlsInsecure=true", "leave tlsinsecure out"},
		{database, "mongodb+srv://db", ""},
		{database, "mongodb+srv://db/?ssl=false", "write tls=true"},
		{database, "https://a:9200,http://b:9200", "write https://"},
		{database, "https://a:9200,https://b:9200", ""},
		{database, "sqlite:sales.db", ""},
	} {
		c := &Config{}
		switch test.key {
		case "public_url":
			c.PublicURL = test.value
		case "gateway.url":
			c.Gateway.URL = test.value
		case "gateway.public_url":
			c.Gateway.PublicURL = test.value
		case "issuer.url":
			c.Issuer.URL = test.value
		case "redis.url":
			c.Redis.URL = test.value
		case store:
			c.CodeSearch.Store = test.value
			c.CodeSearch.defaults(c) // its database is not a second problem
		case embeddings:
			c.CodeSearch.Embeddings.BaseURL = test.value
		case http:
			c.Servers = map[string]Server{"hr": {URL: test.value}}
		case database:
			c.Databases = map[string]Database{"hr": {URL: test.value}}
		}
		got := fmt.Sprint(c.plainTransport())
		if test.want == "" && got != "[]" || !strings.Contains(got, test.want) || strings.Contains(got, "secret") {
			t.Errorf("%s %s: got %s, want %q", test.key, test.value, got, test.want)
		}
		if test.want != "" && !strings.Contains(got, test.key) {
			t.Errorf("%s %s: the key is missing in %s", test.key, test.value, got)
		}
	}
}

func TestPlainTransportIsRefusedWithItsLine(t *testing.T) {
	text := strings.Replace(wholeConfig, "http://127.0.0.1:3101", "http://hr.example.com", 1)
	text = strings.Replace(text, "  audience: gateway\n", "  audience: gateway\n  additional_issuers:\n    - {url: https://a.example.com, audience: x}\n    - audience: x\n      url: http://b.example.com\n", 1)
	text = strings.Replace(text, "localhost:6379", "${CACHE}", 1)
	text += "databases: {hr: {url: postgres://db/x, admin_url: postgres://db/x}}\n"
	_, err := loadText(t, text, func(name string) string {
		if name == "CACHE" {
			return "cache:6379"
		}
		return keysFromEnvironment(name)
	}, ForGateway)
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{
		"line 9: issuer.additional_issuers.1.url would send", "line 13: redis.url would send", "line 15: servers.hr.url would send",
		"line 17: databases.hr.url would trust", "line 17: databases.hr.admin_url would trust",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%s", want, err)
		}
	}
}

func TestEnvironmentCannotMakeTransportPlain(t *testing.T) {
	text := strings.Replace(wholeConfig, "redis://localhost:6379", "rediss://cache:6379", 1)
	_, err := loadText(t, text, func(name string) string {
		if name == "REDIS_HOST" {
			return "cache"
		}
		return keysFromEnvironment(name)
	}, ForGateway)
	if err == nil || !strings.Contains(err.Error(), "redis.url would send") || !strings.Contains(err.Error(), "REDIS_HOST") {
		t.Errorf("got %v", err)
	}
}

// TestPlainListenersAreForLoopbackOnly: each listener beyond loopback has a
// certificate, or a proxy that the file names.
func TestPlainListenersAreForLoopbackOnly(t *testing.T) {
	own, proxy := TLS{Cert: "a.pem", Key: "a.key"}, TLS{Proxy: true}
	for _, test := range []struct {
		address      string
		process, tls TLS
		refused      bool
	}{
		{"127.0.0.1:3100", TLS{}, TLS{}, false},
		{"localhost:3100", TLS{}, TLS{}, false},
		{"[::1]:3100", TLS{}, TLS{}, false},
		{":3100", TLS{}, TLS{}, true},
		{"0.0.0.0:3100", TLS{}, TLS{}, true},
		{"[::]:3100", TLS{}, TLS{}, true},
		{"10.0.0.7:3100", TLS{}, TLS{}, true},
		{"localhost.example.com:3100", TLS{}, TLS{}, true},
		{"0.0.0.0:3100", own, TLS{}, false},
		{"0.0.0.0:3100", proxy, TLS{}, false},
		{"0.0.0.0:3100", TLS{}, own, false},
		{"0.0.0.0:3100", TLS{}, proxy, false},
	} {
		for key, c := range map[string]*Config{
			"listen":            {Listen: test.address, TLS: test.process},
			"metrics.listen":    {Listen: defaultListen, Metrics: Metrics{Listen: test.address}, TLS: test.process},
			"servers.hr.listen": {Listen: defaultListen, TLS: test.process, Servers: map[string]Server{"hr": {Listen: test.address, TLS: test.tls}}},
		} {
			if key != "servers.hr.listen" && test.tls != (TLS{}) {
				continue
			}
			problems := c.plainListeners()
			if refused := len(problems) > 0; refused != test.refused || refused && !strings.Contains(problems[0], key+" would let") {
				t.Errorf("%s %s with %+v, %+v: got %q", key, test.address, test.process, test.tls, problems)
			}
			open := (test.process.Proxy || test.tls.Proxy) && !test.refused
			if weakened := len(c.Weakened()) > 0; weakened != open {
				t.Errorf("%s %s with %+v, %+v: listed as weakened: %v, want %v", key, test.address, test.process, test.tls, weakened, open)
			}
		}
	}
	text := strings.Replace(wholeConfig, "listen: 127.0.0.1:3100", "listen: 0.0.0.0:3100", 1)
	_, err := loadText(t, text, keysFromEnvironment, ForGateway)
	if err == nil || !strings.Contains(err.Error(), "line 1: listen would let other machines connect in plain text") {
		t.Errorf("a file with a plain listener: got %v", err)
	}
	if _, err := loadText(t, text+"\ntls: {proxy: true}\n", keysFromEnvironment, ForGateway); err != nil {
		t.Errorf("behind a proxy: %v", err)
	}
	if _, err := loadText(t, text+"\ntls: {proxy: true, cert: a, key: b}\n", keysFromEnvironment, ForGateway); err == nil {
		t.Error("a proxy and a certificate were accepted")
	}
}

func TestProxiesAreAddressesOfProxies(t *testing.T) {
	for proxies, want := range map[string]string{
		"[10.0.0.5, 10.1.2.3/24, 'fd00::1']": "[10.0.0.5/32 10.1.2.0/24 fd00::1/128]",
		"[]":                                 "[]", "[0.0.0.0/0]": "", "['::/0']": "", "[proxy.example.com]": "", "['10.0.0.5:80']": "",
	} {
		c, err := loadText(t, wholeConfig+"\nproxies: "+proxies+"\n", keysFromEnvironment, ForGateway)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "proxies must be addresses or networks") {
				t.Errorf("%s: got %v", proxies, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(c.ProxyAddresses()) != want {
			t.Errorf("%s: got %v, %v", proxies, c, err)
		}
	}
}

func TestProxyOfUnknownAddressIsWarnedAbout(t *testing.T) {
	for more, want := range map[string]bool{"": false, "tls: {proxy: true}": true, "tls: {proxy: true}\nproxies: [10.0.0.5]": false} {
		c, err := loadText(t, wholeConfig+"\n"+more+"\n", keysFromEnvironment, ForGateway)
		if err != nil || (c.UnknownCallers() != "") != want {
			t.Errorf("%q: got %v, %v", more, c, err)
		}
	}
}
