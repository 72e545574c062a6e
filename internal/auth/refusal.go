package auth

import (
	"errors"

	"countersign.dev/internal/fault"
)

// What people are told. The reasons are told apart only as far as a person can
// act on the difference; the cause is for the log.

func invalid(cause error) *fault.Error {
	return fault.Unauthorized.New("The token is not valid here.").Because(cause)
}

func expired(cause error) *fault.Error {
	return fault.Unauthorized.New("The sign-in has expired.").Suggest("Sign in again, or get a new token.").Because(cause)
}

func notYet(cause error) *fault.Error {
	return fault.Unauthorized.New("The token is not valid yet.").
		Suggest("Wait a moment. If it goes on, the clocks of two computers differ.").Because(cause)
}

func elsewhere(cause error) *fault.Error {
	return fault.Unauthorized.New("The token was made for another service.").
		Suggest("Get a token for this service and send that one.").Because(cause)
}

// unreachable says nothing about the token, so it is no 401: a client must not
// throw a good token away because our issuer is down.
func unreachable(cause error) *fault.Error {
	return fault.ServiceDown.New("The identity service cannot be reached, so nobody can be recognised at the moment.").Because(cause)
}

var (
	errTooLong  = errors.New("the token is longer than the limit")
	errAlphabet = errors.New("the token has a character that no token has")
	errHeader   = errors.New("the token's header asks for something that is not supported")
	errKeyID    = errors.New("the token names no key of the issuer")
	errIssuer   = errors.New("the token's issuer is not configured")
	errClaim    = errors.New("a claim is missing or has the wrong type")
	errAudience = errors.New("the token's audience is another one")
	errExpired  = errors.New("the token has expired")
	errNotYet   = errors.New("the token is not valid yet")
	errNoKeys   = errors.New("the issuer's keys could not be fetched")
)
