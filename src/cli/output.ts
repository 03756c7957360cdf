/** Writes a result to stdout: one value, or one JSON object, a line. */
export const print = (result: string | number | object): void => {
  process.stdout.write(`${typeof result === 'object' ? JSON.stringify(result) : result}\n`)
}

/** Writes what is for people to stderr. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
