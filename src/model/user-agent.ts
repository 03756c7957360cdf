const maxLength = 512

/** Truncates a `User-Agent` for storage, and for comparison with a stored `User-Agent`. */
export const storedUserAgent = (userAgent: string): string => userAgent.slice(0, maxLength)
