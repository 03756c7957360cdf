/** The maximum number of seconds for which a replaced secret remains valid: 30 days. */
export const maxOverlap = 2_592_000
