const maxLength = 512

/** Cuts a `User-Agent` to the length that is stored. Compare the stored one with what this returns. */
export const storedUserAgent = (userAgent: string): string => userAgent.slice(0, maxLength)
