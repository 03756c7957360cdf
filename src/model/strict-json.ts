/** The maximum depth of objects and arrays: metadata needs three levels, and a key set five. */
const maxDepth = 10

/**
 * Parses JSON that has exactly one meaning. No name may occur twice in an object, since RFC 8259 §4 does not define
 * which one counts. The depth is limited, and all bytes must be valid UTF-8.
 * @throws SyntaxError with a message that may be shown
 */
export const strictJson = (text: string): unknown => {
  const value = parsed(text)
  // The decoder replaces bytes that are not UTF-8 with U+FFFD.
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

// Matches a string, with a colon if it is a name, or a bracket.
const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g

// Expects valid JSON.
const checkNames = (text: string): void => {
  const levels: Set<string>[] = []
  for (const [found, colon] of text.matchAll(token)) {
    if (found === '{' || found === '[') levels.push(new Set())
    else if (found === '}' || found === ']') levels.pop()
    else if (colon !== undefined) {
      const name: string = JSON.parse(found.slice(0, -colon.length))
      const names = levels.at(-1)
      if (names?.has(name)) throw new SyntaxError('A name stands twice in one object of the JSON.')
      names?.add(name)
    }
    if (levels.length > maxDepth) throw new SyntaxError('The JSON is nested too deeply.')
  }
}
