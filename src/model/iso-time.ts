declare const brand: unique symbol

/** A time in ISO 8601 in UTC, such as `2027-01-31T12:00:00.000Z`. */
export type IsoTime = string & { readonly [brand]: 'ISO time' }

/** Converts a time in milliseconds since the epoch. */
export const isoTime = (at: number): IsoTime => new Date(at).toISOString() as IsoTime

export const isoTimeOrNull = (at: number | null): IsoTime | null =>
  at === null ? null : isoTime(at)
