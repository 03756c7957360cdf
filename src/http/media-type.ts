/** A media type, and the only parameter of it that the server reads. */
export interface MediaType {
  /** The type and subtype in lower case. */
  readonly type: string
  /** The charset in lower case; undefined for UTF-8, which is the default. */
  readonly charset: string | undefined
}

/**
 * Parses the header `Content-Type` (RFC 9110 §8.3.1). Returns undefined for a value that violates the syntax, and for two
 * different charsets. Each character is read once.
 */
export const mediaTypeOf = (header: string): MediaType | undefined => {
  essence.lastIndex = 0
  const type = essence.exec(header)?.[1]?.toLowerCase()
  if (type === undefined) return undefined
  const charsets = new Set<string>()
  let position = essence.lastIndex
  while (position < header.length) {
    parameter.lastIndex = position
    const found = parameter.exec(header)
    if (!found) return undefined
    position = parameter.lastIndex
    const [, name, token, quoted] = found
    if (name?.toLowerCase() === 'charset')
      charsets.add((token ?? quoted?.replace(/\\(.)/g, '$1') ?? '').toLowerCase())
  }
  const [charset, ...others] = charsets
  if (others.length > 0) return undefined
  return { type, charset: charset === undefined || isUtf8(charset) ? undefined : charset }
}

/** Returns whether a label means UTF-8. Some clients write `utf8`. */
const isUtf8 = (label: string): boolean => {
  try {
    return label === 'utf-8' || new TextDecoder(label).encoding === 'utf-8'
  } catch {
    return false
  }
}

/**
 * Returns whether the text of a body, which was read as UTF-8, is the same text in the charset. This is true of ASCII
 * text in nearly every charset.
 */
export const isSameInUtf8 = (text: string, charset: string): boolean => {
  try {
    return new TextDecoder(charset).decode(Buffer.from(text)) === text
  } catch {
    // The runtime does not know the charset.
    return false
  }
}

// Sticky expressions, which try a single position. RFC 9110 §5.6.6 allows an empty parameter after a semicolon, and
// whitespace beside a semicolon, but not beside the equals sign.
const essence = /[ \t]*([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)[ \t]*/y
const parameter =
  /;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)")[ \t]*)?/y
