/** The number at which pages stop counting rows, to avoid reading a large table. They show it as more than 1,000. */
export const countLimit = 1_001
