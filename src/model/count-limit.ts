/** Pages count rows up to here and no further, so that no page reads a large table: this many means more than 1,000. */
export const countLimit = 1_001
