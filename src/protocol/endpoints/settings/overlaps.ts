/** How long a former secret may be offered to stay valid, in seconds: not at all, an hour, a day, a week. */
export const overlaps: readonly number[] = [0, 3_600, 86_400, 604_800]
