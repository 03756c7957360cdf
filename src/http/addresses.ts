/** Which paths are the server's. */
export interface Addresses {
  handles(path: string): boolean
  /** All of them; one that ends in `/*` has all below it. */
  readonly list: readonly string[]
}

/**
 * A path alone is one address. One with a parameter claims all below what stands before it, and one that
 * ends in a slash all below itself, and itself without the slash; but for `root`, the start page.
 */
export const addressesOf = (
  paths: readonly string[],
  { root, prefix }: { readonly root: string; readonly prefix: string },
): Addresses => {
  const claimed = [prefix, ...paths.flatMap((path) => folderOf(path, root) ?? [])]
  const folders = [...new Set(claimed)].filter(
    (folder) => !claimed.some((other) => other !== folder && folder.startsWith(other)),
  )
  const isWithin = (path: string): boolean => folders.some((folder) => path.startsWith(folder))
  const single = paths.filter((path) => !path.includes(':')).flatMap(withAndWithoutSlash)
  const exact = new Set(single.filter((path) => !isWithin(path)))
  return {
    handles: (path) => exact.has(path) || isWithin(path),
    list: [...exact, ...folders.map((folder) => `${folder}*`)],
  }
}

const folderOf = (path: string, root: string): string | undefined => {
  const parameter = path.indexOf(':')
  if (parameter >= 0) return path.slice(0, path.lastIndexOf('/', parameter) + 1)
  return path.endsWith('/') && path !== root ? path : undefined
}

/** A path that ends in a slash, and the one that leads there. */
export const withAndWithoutSlash = (path: string): readonly string[] =>
  path.endsWith('/') && path.length > 1 ? [path, path.slice(0, -1)] : [path]

/** A path with a query, without the token that somebody may have put into it: it goes into no address of ours. */
export const addressWith = (path: string, query: string): string => {
  const kept = query.split('&').filter((pair) => !new URLSearchParams(pair).has('access_token'))
  return kept.join('') === '' ? path : `${path}?${kept.join('&')}`
}
