// Package app is what each command starts: the demo, the gateway, the domain
// servers, and the checks and fillings of their stores. It owns the one list of
// domains, how their stores are opened, and the order in which everything that
// was started ends. It reads no flags and no environment: every command takes
// an options value. Start with domains.go and platform.go.
package app
