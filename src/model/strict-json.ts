/** Levels of objects and arrays: metadata needs three, and a key set five. */
const deepest = 10

/**
 * The value of a JSON text that has one meaning: no name stands twice in an object (RFC 8259 §4 leaves open which
 * would count), nothing is nested too deeply, and no character was lost in reading it as UTF-8.
 * @throws SyntaxError, whose message may be shown
 */
export const strictJson = (text: string): unknown => {
  const value = parsed(text)
  // What stands in the place of bytes that are no UTF-8.
  if (text.includes('\uFFFD')) throw new SyntaxError('The JSON is not in UTF-8.')
  checkNames(text)
  return value
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // What it says repeats the text.
    throw new SyntaxError('This is no JSON.')
  }
}

// A string with what makes it a name, and the marks at which a level begins, ends, or goes on.
const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g

// The text is known to be JSON.
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
    if (levels.length > deepest) throw new SyntaxError('The JSON is nested too deeply.')
  }
}
