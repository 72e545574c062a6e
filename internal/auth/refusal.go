package auth

import (
	"errors"

	"countersign.dev/internal/fault"
)

// The errors that people see. They distinguish only what a person can act on;
// the cause is for the log.

func invalid(cause error) *fault.Error {
	return fault.Unauthorized.New("The token is not valid here.").Because(cause)
}

func expired(cause error) *fault.Error {
	return fault.Unauthorized.New("The sign-in has expired.").Suggest("Sign in again.").Instruct("Sign in again. A program gets a new token.").Because(cause)
}

func notYet(cause error) *fault.Error {
	return fault.Unauthorized.New("The token is not valid yet.").
		Suggest("Wait a moment. If it goes on, the clocks of two computers differ.").Because(cause)
}

func elsewhere(cause error) *fault.Error {
	return fault.Unauthorized.New("The token was made for another service.").
		Instruct("Get a token for this service and send that one.").Because(cause)
}

// unreachable is no 401, because the token may be valid: a client must not drop
// it because our issuer is down.
func unreachable(cause error) *fault.Error {
	return fault.ServiceDown.New("The identity service cannot be reached, so no token can be verified at the moment.").Because(cause)
}

var (
	errTooLong   = errors.New("the token is longer than the limit")
	errAlphabet  = errors.New("the token has a character that no token has")
	errHeader    = errors.New("the token's header asks for something that is not supported")
	errKeyID     = errors.New("the token names no key of the issuer")
	errUnchecked = errors.New("the token names a key that the issuer had not published when its keys were last fetched")
	errIssuer    = errors.New("the token's issuer is not configured")
	errClaim     = errors.New("a claim is missing or has the wrong type")
	errAudience  = errors.New("the token has another audience")
	errExpired   = errors.New("the token has expired")
	errNotYet    = errors.New("the token is not valid yet")
	errExpiry    = errors.New("the token does not say when it expires")
	errPerson    = errors.New("the token is another person's than that of the sign-in")
	errNoKeys    = errors.New("the issuer's keys could not be fetched")
)
