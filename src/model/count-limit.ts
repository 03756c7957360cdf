/** The number at which pages stop counting rows, because a count of a large table is slow. Pages display "more than 1,000". */
export const countLimit = 1_001
