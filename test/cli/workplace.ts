import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AuthorizationServer, createAuthorizationServer } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect } from 'vitest'
import { compileCache, plainEnvironment, root, temporaryFolder } from '../support/processes.ts'
import { reportModule, secretNet, secretsFile } from '../support/secrets/net.ts'
import { secretKey, testScopes, withoutWarnings } from '../support/server.ts'
import type { Order } from './run-commands.ts'

/** The result of a command. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The standard input of the command, by default empty. It is never a terminal. */
  readonly stdin?: string
  /** Options for Node, before the program. If the list is set, also an empty one, the command has its own process. */
  readonly nodeOptions?: readonly string[]
}

/** A new folder with a database, in which commands run. */
export interface Workplace extends AsyncDisposable {
  readonly folder: string
  readonly database: string
  /** Runs a command. The commands of all tests share a process, because starting Node takes most of the time. */
  run(...args: readonly string[]): Promise<Outcome>
  runWith(options: CommandOptions, ...args: readonly string[]): Promise<Outcome>
  /** Runs several commands, one after the other. */
  runAll(commands: readonly (readonly string[])[]): Promise<readonly Outcome[]>
  /** Creates a server in this process, on the same database. */
  open(clock?: () => number): Promise<AuthorizationServer>
}

export const mainProgram = join(root, 'src/cli/main.ts')

/** Returns the environment variables for a database. */
export const environmentOf = (database: string): Record<string, string> => ({
  DATABASE_URL: `sqlite:${database}`,
  SECRET_KEY: secretKey,
  ...compileCache,
})

const environmentFor = (database: string, env: CommandOptions['env']) => ({
  ...plainEnvironment(),
  ...environmentOf(database),
  ...env,
})

/** Runs a command as a process. */
const asProcess = (
  folder: string,
  database: string,
  args: readonly string[],
  { env, stdin = '', nodeOptions = [] }: CommandOptions,
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--import', reportModule, ...nodeOptions, mainProgram, ...args],
      {
        cwd: folder,
        env: { ...environmentFor(database, env), TEST_SECRETS: secretsFile() },
        timeout: 180_000,
      },
    )
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
    // A command that reads no input may exit before the input is written.
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin)
  })

/** Starts the process that runs the commands of all files of this worker. It exits with this worker. */
const startHelper = async (): Promise<ChildProcess> => {
  const helper = fork(join(root, 'test/cli/run-commands.ts'), {
    execArgv: ['--import', reportModule],
    env: { ...plainEnvironment(), ...compileCache, TEST_SECRETS: secretsFile() },
  })
  await once(helper, 'message')
  helper.unref()
  helper.channel?.unref()
  return helper
}

let helper: Promise<ChildProcess> | undefined
let last: Promise<unknown> = Promise.resolve()

/** Runs a command in the process of all commands, after the previous command. */
const inHelper = (
  folder: string,
  database: string,
  args: readonly string[],
  { env, stdin = '' }: CommandOptions,
): Promise<Outcome> => {
  const outcome = last.then(async () => {
    helper ??= startHelper()
    const child = await helper
    const order = { folder, env: definedIn(environmentFor(database, env)), args, stdin }
    const over = new AbortController()
    const answer = Promise.race([
      once(child, 'message', over).then(([message]) => message as Outcome),
      once(child, 'exit', over).then(() => {
        helper = undefined
        throw new Error(`The process ended during ${args.join(' ')}.`)
      }),
    ])
    child.send(order satisfies Order)
    return answer.finally(() => over.abort())
  })
  last = outcome.catch(() => undefined)
  return outcome
}

const definedIn = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )

const command = async (
  folder: string,
  database: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<Outcome> => {
  const run = options.nodeOptions ? asProcess : inHelper
  const outcome = await run(folder, database, args, options)
  // Commands print new secrets to stderr after "shown once: ". These secrets are intended for the user, so ignore them.
  const log = outcome.stderr.replaceAll(/(shown once: )\S+/g, '$1…')
  secretNet().addText(`stderr of ${args.join(' ')}`, log)
  return outcome
}

export const workplace = async (): Promise<Workplace> => {
  const folder = await temporaryFolder()
  const database = join(folder.path, 'test.sqlite')
  return {
    folder: folder.path,
    database,
    run: (...args) => command(folder.path, database, args),
    runWith: (options, ...args) => command(folder.path, database, args, options),
    async runAll(commands) {
      const outcomes: Outcome[] = []
      for (const args of commands) outcomes.push(await command(folder.path, database, args))
      return outcomes
    },
    open: (clock = Date.now) =>
      createAuthorizationServer({
        issuer: 'http://localhost:3000',
        secretKeys: [secretKey],
        store: sqlite(database),
        scopes: testScopes,
        clock,
        sweepInterval: 0,
        ...withoutWarnings,
      }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

/** Makes the workplace the folder of an application that declares scopes. */
export const declareScopes = async (
  { folder }: Workplace,
  entryPoints: Readonly<Record<string, string>> = {
    notes_read: './scopes.mjs:notesRead',
    test_scope: './scopes.mjs:testScope',
  },
): Promise<void> => {
  const scope = pathToFileURL(join(root, 'src/model/scope.ts')).href
  const manifest = {
    name: 'application',
    dependencies: { 'svc-oauth2server': '*' },
    entryPoints: { 'svc_oauth2server.scopes': entryPoints },
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await writeFile(
    join(folder, 'scopes.mjs'),
    `import { Scope } from ${JSON.stringify(scope)}
export const notesRead = new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' })
export const testScope = new Scope('test:scope', { helpText: 'For tests', internal: true })
`,
  )
}

const source = (path: string): string => JSON.stringify(pathToFileURL(join(root, path)).href)

/** Writes the configuration of an application: a module whose default export is the expression. */
export const configure = async (
  { folder }: Workplace,
  expression: string,
  file = 'authorization.mjs',
): Promise<void> =>
  writeFile(
    join(folder, file),
    `import { createAuthorizationServer, Scope, table } from ${source('src/index.ts')}
import { sqlite } from ${source('src/store/sqlite.ts')}
import { postgres } from ${source('src/store/postgres.ts')}
const base = {
  issuer: 'http://localhost:3000',
  secretKeys: [${JSON.stringify(secretKey)}],
  scopes: [new Scope('notes:read')],
}
const login = { resourceOwner: () => null, loginUrl: '/enter', logoutUrl: '/leave' }
export default ${expression}
`,
  )

/** Returns the result of a rejected command: no output on stdout, one line on stderr, and the exit status. */
export const refused = (line: string | RegExp, code: 1 | 2 = 1): Outcome => ({
  code,
  stdout: '',
  stderr:
    typeof line === 'string'
      ? `error: ${line}\n`
      : expect.stringMatching(new RegExp(`^error: [^\\n]*${line.source}[^\\n]*\\n$`)),
})

/** Returns the result of an invalid command line. */
export const misused = (line: string | RegExp): Outcome => refused(line, 2)

/** The result of a command without output. */
export const silent: Outcome = { code: 0, stdout: '', stderr: '' }
