/** The length of the shortest credential that the settings allow. */
const shortest = 22
const longest = 8_192

/**
 * Returns the parts of a pasted text that may be credentials. The text can be a bare value, a header, a `curl` command,
 * a URL, JSON or a line of a log. Credentials consist of letters, digits, dots, hyphens and underscores.
 */
export const credentialsIn = (pasted: string): readonly string[] => {
  const text = pasted
    .replaceAll(/%[0-9A-Fa-f]{2}/g, (code) => String.fromCharCode(Number(`0x${code.slice(1)}`)))
    .replaceAll(/\\[nrt]/g, ' ')
    // Chats and documents may insert invisible characters into long values, so that the values can wrap.
    .replaceAll(/\p{Cf}/gu, '')
  const basic = [...text.matchAll(/\bBasic\s+([A-Za-z0-9+/]+={0,2})/gi)]
  const decoded = basic.map(([, code = '']) => Buffer.from(code, 'base64').toString('latin1'))
  // A terminal or an e-mail may have wrapped the value.
  const unwrapped = text.replaceAll(/\s/g, '')
  const whole = /^[\w.-]+$/.test(unwrapped) ? [unwrapped] : []
  const parts = [text, ...decoded].flatMap((part) => part.match(/[A-Za-z0-9._-]+/g) ?? [])
  const trimmed = [...parts, ...whole].map(withoutPunctuation)
  return [...new Set(trimmed.filter(({ length }) => length >= shortest && length <= longest))]
}

// A loop, because an expression for the end of a text backtracks at each earlier run of punctuation.
const withoutPunctuation = (part: string): string => {
  let start = 0
  let end = part.length
  while (start < end && '._-'.includes(part.charAt(start))) start += 1
  while (end > start && '._-'.includes(part.charAt(end - 1))) end -= 1
  return part.slice(start, end)
}
