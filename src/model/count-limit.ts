/** The number at which pages stop counting rows, to avoid reading a large table. Pages display "more than 1,000". */
export const countLimit = 1_001
