package httpx

import (
	"crypto/x509"
	"errors"
)

// CertificateAdvice is what an operator does about a server whose certificate was
// refused; empty when err is about something else.
func CertificateAdvice(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "Its certificate is of an authority that is not trusted here: name that authority's file in SSL_CERT_FILE"
	case errors.As(err, &name):
		return "Its certificate is not for " + name.Host + ": use an address that it names, or get one for this address"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "Its certificate has ended, or has not begun: renew it, or set the clock"
	case errors.As(err, &invalid):
		return "Its certificate cannot be used by a server: get another one"
	}
	return ""
}
