/** A text as one word of a POSIX shell, whatever is in it. */
export const inShell = (text: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
