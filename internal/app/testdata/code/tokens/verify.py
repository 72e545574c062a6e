"""Tokens: what a caller proves their identity with."""


class TokenError(Exception):
    """The token is not one of ours, or its time is over."""


def verify_token(token, keys, now):
    """Verify a token's signature and time, and return its claims."""
    header, claims, signature = token.split(".")
    if not keys[header].matches(claims, signature):
        raise TokenError("signature")
    if claims["exp"] < now:
        raise TokenError("expired")
    return claims
