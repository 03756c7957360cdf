/** The host names of the local machine in the form of `URL.hostname`. RFC 8252 §7.3. */
export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
