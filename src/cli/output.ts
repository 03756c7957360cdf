/** Writes a result to stdout: one value or JSON object per line. */
export const print = (result: string | number | object): void => {
  process.stdout.write(`${typeof result === 'object' ? JSON.stringify(result) : result}\n`)
}

/** Writes a message for the user to stderr. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
