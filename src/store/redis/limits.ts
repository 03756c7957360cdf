/** Milliseconds within which Redis has to answer a command. */
export const answerLimit = 1_000

/** Nothing came in time. */
export class Silence extends Error {
  override readonly name = 'Silence'
}

/** The answer, if it comes within so many milliseconds. @throws Silence */
export const within = async <T>(limit: number, answer: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const end = () => reject(new Silence(`there was no answer within ${limit} ms`))
    // An answer may lie there unread, where this process was busy: it is read before the limit counts.
    timer = setTimeout(() => setImmediate(end), limit)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
