package issuer

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"countersign.dev/internal/netguard"
)

// Server is an issuer that listens.
type Server struct {
	*Issuer
	http *http.Server
	done chan struct{}
}

// Start listens on addr, which must be a loopback address with a port, such as
// "localhost:3180" or "127.0.0.1:0", and serves until Close. The issuer's URL
// has the host of addr, with the port of the listener.
func Start(addr string, o Options) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("issuer: listen on %q: %w", addr, err)
	}
	if !netguard.Loopback(&url.URL{Host: net.JoinHostPort(host, "0")}) {
		return nil, fmt.Errorf("issuer: %q is not on loopback; the development issuer listens on loopback only", addr)
	}
	ln, err := listenLoopback(addr)
	if err != nil {
		return nil, err
	}
	port := ln.Addr().(*net.TCPAddr).Port
	i, err := New("http://"+net.JoinHostPort(host, fmt.Sprint(port)), o)
	if err != nil {
		return nil, closing(ln, err)
	}
	s := &Server{Issuer: i, done: make(chan struct{}), http: &http.Server{
		Handler: i.Handler(), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always ErrServerClosed: only Close ends it
	}()
	return s, nil
}

// Close stops listening and waits for running requests, at most until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	<-s.done
	return err
}

// listenLoopback checks the address of the listener: a hosts file may map
// "localhost" to any address.
func listenLoopback(addr string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	if !ln.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return nil, closing(ln, fmt.Errorf("issuer: %q is not on loopback here", addr))
	}
	return ln, nil
}

func closing(ln net.Listener, err error) error {
	_ = ln.Close()
	return err
}

// Handler serves the issuer. Requests that name a host other than loopback are
// refused, so that a web page cannot reach it by DNS rebinding.
func (i *Issuer) Handler() http.Handler {
	browser := http.NewServeMux()
	browser.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	browser.HandleFunc("GET /jwks", i.jwks)
	browser.HandleFunc("GET /authorize", i.authorize)
	browser.HandleFunc("POST /authorize", i.signIn)
	browser.HandleFunc("POST /token", i.token)
	browser.HandleFunc("GET /userinfo", i.userinfo)
	browser.HandleFunc("GET /logout", i.logout)
	browser.HandleFunc("POST /dev/token", i.devToken)
	browser.HandleFunc("GET /style.css", style)
	return onLoopback(http.NewCrossOriginProtection().Handler(browser))
}

// maxForm bounds every request body: codes and names are short.
const maxForm = 64 << 10

func onLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy(""))
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // no-referrer would turn the form's Origin into null
		h.Set("Cache-Control", "no-store")
		if !netguard.Loopback(&url.URL{Host: r.Host}) {
			http.Error(w, "This development issuer answers on loopback only.", http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}
