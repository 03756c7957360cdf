/** The paths of the server. */
export interface Addresses {
  handles(path: string): boolean
  /** All paths; a path that ends in `/*` includes all paths below it. */
  readonly list: readonly string[]
}

/**
 * Returns which paths belong to the server. A path with a parameter includes everything below the part before it. A
 * path that ends in a slash includes everything below it, and itself without the slash, except `root`, the start page.
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

/** Returns a path that ends in a slash both with and without it. */
export const withAndWithoutSlash = (path: string): readonly string[] =>
  path.endsWith('/') && path.length > 1 ? [path, path.slice(0, -1)] : [path]

/** Joins path and query, without an access token in the query, which must not get into another URL. */
export const addressWith = (path: string, query: string): string => {
  const kept = query.split('&').filter((pair) => !new URLSearchParams(pair).has('access_token'))
  return kept.join('') === '' ? path : `${path}?${kept.join('&')}`
}
