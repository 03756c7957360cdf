/** The choices for how long a former secret stays valid, in seconds: not at all, an hour, a day, a week. */
export const overlaps: readonly number[] = [0, 3_600, 86_400, 604_800]
