import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { Scope } from '../model/scope.ts'
import { importPath, whyNotImported } from './import-path.ts'

const group = 'svc_oauth2server.scopes'

const manifest = z.object({
  name: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
  entryPoints: z
    .object({ [group]: z.record(z.string(), z.string()).default({}) })
    .partial()
    .default({}),
})

/**
 * Returns the scopes that the application and its direct dependencies declare in `entryPoints` of their `package.json`.
 * Each entry maps a name to the module and the export of a `Scope`.
 * @throws Error if a `package.json` or an entry is invalid, or if the application has no `package.json`
 */
export const entryPointScopes = async (applicationRoot: string): Promise<readonly Scope[]> => {
  const application = await manifestIn(applicationRoot)
  if (!application)
    throw new Error(`There is no package.json in the application root ${applicationRoot}.`)
  const roots = Object.keys(application.dependencies).flatMap(
    (name) => packageRoot(name, applicationRoot) ?? [],
  )
  const scopes: Scope[] = []
  for (const root of [applicationRoot, ...roots]) {
    const declaring = root === applicationRoot ? application : await manifestIn(root)
    // Skip the entry points of this package: they declare the scopes of its example, which the installed package omits.
    if (root !== applicationRoot && declaring?.name === 'svc-oauth2server') continue
    for (const [name, path] of Object.entries(declaring?.entryPoints[group] ?? {}))
      scopes.push(await scopeAt(path, root, name))
  }
  return scopes
}

const scopeAt = async (path: string, root: string, name: string): Promise<Scope> => {
  const scope = await importPath(path, root).catch((cause: unknown) => {
    throw new Error(
      `The entry point ${name} (${path}) of ${root} cannot be loaded: ${whyNotImported(cause)}`,
      {
        cause,
      },
    )
  })
  if (!(scope instanceof Scope))
    throw new TypeError(`The entry point ${name} (${path}) of ${root} is not a Scope.`)
  return scope
}

const manifestIn = async (root: string): Promise<z.output<typeof manifest> | undefined> => {
  const text = await readFile(join(root, 'package.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return manifest.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(`The entry points in ${join(root, 'package.json')} cannot be read.`, { cause })
  }
}

// Resolve an absolute path in each directory that Node would search: `require.resolve('name/package.json')` fails for a
// package that does not export its package.json.
const packageRoot = (name: string, applicationRoot: string): string | undefined => {
  const require = createRequire(join(applicationRoot, 'package.json'))
  for (const directory of require.resolve.paths(name) ?? []) {
    try {
      return dirname(require.resolve(join(directory, name, 'package.json')))
    } catch {
      // The package is not in this directory. Try the next one.
    }
  }
  return undefined
}
