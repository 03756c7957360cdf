/**
 * Returns the values of the cookies with a name, at most `most`. Searches for the name, because a header with thousands of
 * cookies would be slow to split.
 * @param header the header `Cookie`; null without cookies
 */
export const cookiesNamed = (
  header: string | null,
  name: string,
  most: number,
): readonly string[] => {
  const values: string[] = []
  if (header === null) return values
  const start = `${name}=`
  for (
    let at = header.indexOf(start);
    at >= 0 && values.length < most;
    at = header.indexOf(start, at + start.length)
  ) {
    if (!beginsPair(header, at)) continue
    const end = header.indexOf(';', at)
    values.push(header.slice(at + start.length, end < 0 ? header.length : end).trim())
  }
  return values
}

const beginsPair = (header: string, at: number): boolean => {
  let before = at - 1
  while (before >= 0 && (header[before] === ' ' || header[before] === '\t')) before -= 1
  return before < 0 || header[before] === ';'
}
