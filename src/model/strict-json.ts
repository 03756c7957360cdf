/** The maximum nesting of objects and arrays. Client metadata with a key set usually has at most five levels. */
const maxDepth = 10
/** The maximum number of members and items, because the later validation reports each one that is not valid. */
const maxValues = 1_000

/**
 * Parses JSON strictly. Refuses invalid UTF-8, deep nesting and more than 1,000 values. Also refuses duplicate names in an
 * object, because parsers interpret duplicate names differently (RFC 8259 §4).
 * @throws SyntaxError with a message that does not repeat the text
 */
export const strictJson = (text: string): unknown => {
  const value = parsed(text)
  // The decoder has replaced bytes that are not UTF-8 with U+FFFD.
  if (text.includes('\uFFFD')) throw new SyntaxError('The JSON is not in UTF-8.')
  checkNames(text)
  return value
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The message of JSON.parse repeats the text, which may hold a secret.
    throw new SyntaxError('This is not JSON.')
  }
}

// Matches a bracket, a comma or a string. A colon after the string marks the name of a member. The final quotation mark is
// optional, because an expression that cannot fail after its first character does not backtrack.
const token = /"(?:[^"\\]|\\.)*"?(\s*:)?|[{}[\],]/g

// Expects valid JSON.
const checkNames = (text: string): void => {
  const levels: Set<string>[] = []
  let commas = 0
  for (const [found, colon] of text.matchAll(token)) {
    if (found === '{' || found === '[') levels.push(new Set())
    else if (found === '}' || found === ']') levels.pop()
    else if (found === ',') commas += 1
    else if (colon !== undefined) {
      const name: string = JSON.parse(found.slice(0, -colon.length))
      const names = levels.at(-1)
      if (names?.has(name)) throw new SyntaxError('An object of the JSON contains a name twice.')
      names?.add(name)
    }
    if (commas >= maxValues) throw new SyntaxError('The JSON contains too many values.')
    if (levels.length > maxDepth) throw new SyntaxError('The JSON is nested too deeply.')
  }
}
