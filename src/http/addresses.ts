import { isNamed } from '../model/parameters.ts'

/** The paths of the server. */
export interface Addresses {
  handles(path: string): boolean
  /** All paths; a path that ends in `/*` includes all paths below it. */
  readonly list: readonly string[]
}

/**
 * Returns the paths that the server handles: the given paths, and all paths below `prefix`. For a path with a
 * parameter, the server handles everything below the directory that contains the parameter. For a path that ends in a
 * slash, the server handles the path with and without the slash, and everything below the path. A path in `roots`
 * is an exception and does not include the paths below, because the application may have pages there.
 */
export const addressesOf = (
  paths: readonly string[],
  { roots, prefix }: { readonly roots: readonly string[]; readonly prefix: string },
): Addresses => {
  const claimed = [prefix, ...paths.flatMap((path) => folderOf(path, roots) ?? [])]
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

const folderOf = (path: string, roots: readonly string[]): string | undefined => {
  const parameter = path.indexOf(':')
  if (parameter >= 0) return path.slice(0, path.lastIndexOf('/', parameter) + 1)
  return path.endsWith('/') && !roots.includes(path) ? path : undefined
}

/** Returns the path. If the path ends in a slash and is not `/`, also returns the path without the slash. */
export const withAndWithoutSlash = (path: string): readonly string[] =>
  path.endsWith('/') && path.length > 1 ? [path, path.slice(0, -1)] : [path]

/** Joins the path and the query, and removes `access_token` from the query. */
export const addressWith = (path: string, query: string): string => {
  const kept = query.split('&').filter((pair) => !isNamed(pair, 'access_token'))
  return kept.join('') === '' ? path : `${path}?${kept.join('&')}`
}
