/** The durations for which a former secret can remain valid, in seconds: zero, an hour, a day, a week. */
export const overlaps: readonly number[] = [0, 3_600, 86_400, 604_800]
