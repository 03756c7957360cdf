import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { AuthorizationServer, AuthorizationServerOptions } from '../index.ts'
import {
  defaultDatabase,
  fromEnvironment,
  startProblem,
  type Variables,
} from '../server/environment/environment.ts'
import { CommandError, shown } from './errors.ts'
import { single } from './options.ts'
import { say } from './output.ts'

/** The configuration of a command: options, or the server that the application's module exports. */
export type Configuration =
  | { readonly options: AuthorizationServerOptions }
  | { readonly server: AuthorizationServer }

/** Returns the option `--config`, which every command accepts. */
export const configOption = () =>
  single(
    '--config <module>',
    'The path of a module. Its default export is the options of createAuthorizationServer, a server, or a function that returns either. (default: "svc-oauth2server": {"config": …} in package.json, otherwise the environment)',
  )

/** Calls `loadConfiguration` with the value of `--config`. */
export const configurationOf = (command: Command): Promise<Configuration> =>
  loadConfiguration(process.env, command.optsWithGlobals().config)

/**
 * Loads the configuration from the module at the path. The `package.json` of the current directory can contain a
 * default path. Without any path, reads the configuration from the environment, as a standalone server does.
 * @throws CommandError for an unusable path or module; InvalidSettings for an invalid variable; StoreUnusable if the
 *   secret key file cannot be read or created
 */
export const loadConfiguration = async (
  env: Variables,
  path: string | undefined,
): Promise<Configuration> => {
  const module = path ?? configInPackage()
  if (module !== undefined) return moduleConfiguration(module)
  if (env.DATABASE_URL === undefined && !env.DATABASE_URL_FILE) nameDatabase()
  const { options } = await fromEnvironment(env)
  const root = existsSync('package.json') ? { applicationRoot: process.cwd() } : {}
  return { options: { ...options, ...root } }
}

const configInPackage = (): string | undefined => {
  if (!existsSync('package.json')) return undefined
  try {
    const { config } = JSON.parse(readFileSync('package.json', 'utf8'))['svc-oauth2server'] ?? {}
    if (config === undefined || typeof config === 'string') return config
  } catch {
    // Ignore invalid JSON. If a module needs the file, Node reports the error.
    return undefined
  }
  throw new CommandError(
    '"svc-oauth2server": "config" in package.json must be the path of a module.',
  )
}

const moduleConfiguration = async (path: string): Promise<Configuration> => {
  const file = resolve(path)
  if (!existsSync(file)) throw new CommandError(`The configuration ${shown(path)} does not exist.`)
  const value = await defaultExport(file).catch((cause: unknown) => {
    // Don't wrap an error whose message already tells the operator what to do.
    if (startProblem(cause) !== undefined) throw cause
    throw new CommandError(
      `The configuration ${shown(path)} cannot be loaded: ${firstLine(cause)}`,
      { cause },
    )
  })
  if (typeof value !== 'object' || value === null)
    throw new CommandError(
      `The configuration ${shown(path)} needs a default export: the options of createAuthorizationServer, a server, or a function that returns either.`,
    )
  if ('actingAs' in value) return { server: value as AuthorizationServer }
  return { options: value as AuthorizationServerOptions }
}

const defaultExport = async (file: string): Promise<unknown> => {
  const { default: value }: { readonly default?: unknown } = await import(pathToFileURL(file).href)
  return typeof value === 'function' ? value() : value
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

// If this directory or `data` contains other databases, prints which database this command uses. The application may
// use one of the other databases. This command would then not find the users and tokens of the application.
const nameDatabase = (): void => {
  const file = defaultDatabase.replace(/^sqlite:/, '')
  const isDatabase = (name: string) => /\.(?:sqlite3?|db)$/.test(name) && !file.endsWith(`/${name}`)
  const others = ['.', './data'].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).filter(isDatabase) : [],
  )
  if (others.length === 0) return
  say(
    `This command uses the database ${file}, and not ${others.join(', ')}. Choose another database with DATABASE_URL or --config.`,
  )
}
