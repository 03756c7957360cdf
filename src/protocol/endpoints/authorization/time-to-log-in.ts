/**
 * Milliseconds for which a request that arrived in time may continue, although its reference (RFC 9126) or its request
 * object (RFC 9101) expires in the meantime. The user may have to log in, reset the password or read an e-mail. A request
 * without an expiry continues for any time.
 */
export const timeToLogIn = 86_400_000
