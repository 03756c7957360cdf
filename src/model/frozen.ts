/**
 * Freezes an object and its arrays. Look-ups may return one record to several requests, so a change by one request
 * would affect the other requests.
 */
export const frozen = <T extends object>(record: T): T => {
  for (const value of Object.values(record)) if (Array.isArray(value)) Object.freeze(value)
  return Object.freeze(record)
}
