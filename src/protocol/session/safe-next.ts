const maxNextLength = 16_384

/** Returns the path to open after the login: `next` if it is a path on this host, otherwise the start page. */
export const safeNext = (
  given: readonly string[],
  { basePath, issuer }: { readonly basePath: string; readonly issuer: string },
): string => {
  const start = `${basePath}/`
  const [next] = given
  if (given.length !== 1 || next === undefined || next.length > maxNextLength) return start
  // Accept only printable ASCII without a backslash: browsers remove tabs and line breaks, and turn backslashes into
  // slashes.
  if (!/^\/(?:[\x21-\x2E\x30-\x5B\x5D-\x7E][\x21-\x5B\x5D-\x7E]*)?$/.test(next)) return start
  const { origin } = new URL(issuer)
  return URL.canParse(next, origin) && new URL(next, origin).origin === origin ? next : start
}
