/**
 * Returns one line of a CSV file (RFC 4180). Adds an apostrophe before a text that a spreadsheet would evaluate as a
 * formula.
 */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const harmless = /^[=+\-@\t\r\n|%]/.test(text) ? `'${text}` : text
  return `"${harmless.replaceAll('"', '""')}"`
}
