/** Milliseconds within which Redis has to answer a command. */
export const answerLimit = 1_000
