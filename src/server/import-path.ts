import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { resolve as resolveImport } from 'import-meta-resolve'

type Module = Readonly<Record<string, unknown>>

/**
 * The modules of this package, by the names of the specification. The imports are literal, so that a bundle of the
 * application contains the modules.
 */
const ownModules: Readonly<Record<string, () => Promise<Module>>> = {
  // The index imports this module, so find it at run time.
  svc_oauth2server: () =>
    import(
      /* webpackIgnore: true */
      new URL(`../index${extname(import.meta.url)}`, import.meta.url).href
    ),
  'svc_oauth2server.scopes': () => import('../model/scope.ts'),
  'svc_oauth2server.utils': () => import('../protocol/session/utils.ts'),
}

const camelCase = (name: string): string =>
  name
    .replaceAll(/_+/g, '_')
    .replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Returns the export at an import path, such as `svc_oauth2server.utils:jwt_verify_token`. The last colon separates the
 * module from the export. `svc_oauth2server` is this package. A module that begins with `./` is relative to the
 * application root. Any other module is a dependency of the application.
 * @throws Error if the module or the export is missing
 */
export const importPath = async (path: string, applicationRoot: string): Promise<unknown> => {
  const colon = path.lastIndexOf(':')
  const [specifier, name] = [path.slice(0, colon), path.slice(colon + 1)]
  const module = await (ownModules[specifier]?.() ?? imported(specifier, applicationRoot))
  if (name in module) return module[name]
  if (camelCase(name) in module) return module[camelCase(name)]
  throw new Error(`${specifier} has no export ${name}.`)
}

const imported = (specifier: string, applicationRoot: string): Promise<Module> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ resolve(specifier, applicationRoot))

const resolve = (specifier: string, applicationRoot: string): string => {
  const root = join(applicationRoot, 'package.json')
  try {
    return resolveImport(specifier, pathToFileURL(root).href)
  } catch (error) {
    // Unlike `import`, `require` finds a file without its extension, and a package whose only export condition is
    // `require`.
    try {
      return pathToFileURL(createRequire(root).resolve(specifier)).href
    } catch {
      throw error
    }
  }
}

/** Returns the message of an error of `importPath`. Further lines of Node's message list modules, which do not help. */
export const whyNotImported = (error: unknown): string | undefined =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]
