const longestNext = 16_384

/** Where to go after the login: a path of this very server, or its start page. */
export const safeNext = (
  given: readonly string[],
  { basePath, issuer }: { readonly basePath: string; readonly issuer: string },
): string => {
  const start = `${basePath}/`
  const [next] = given
  if (given.length !== 1 || next === undefined || next.length > longestNext) return start
  // Printable ASCII without a backslash: what a browser would strip or turn around must not get through.
  if (!/^\/(?!\/)[\x21-\x5B\x5D-\x7E]*$/.test(next)) return start
  const { origin } = new URL(issuer)
  return URL.canParse(next, origin) && new URL(next, origin).origin === origin ? next : start
}
