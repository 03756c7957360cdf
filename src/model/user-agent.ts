const maxLength = 512

/** Cuts a `User-Agent` to the length that is stored. Cut a received one before comparing it with a stored one. */
export const storedUserAgent = (userAgent: string): string => userAgent.slice(0, maxLength)
