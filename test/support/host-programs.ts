import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type AuthorizationServerOptions,
  createAuthorizationServer,
  Scope,
  type UserId,
} from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { freePort, type ProgramOptions, runNode } from './processes.ts'

/** The secret key of every host program. */
export const secretKey = 'a test secret key of more than 32 bytes'

/** A running program of a how-to page. */
export interface HostProgram extends AsyncDisposable {
  readonly url: string
  /** The path of the program's database, which the test also opens. */
  readonly database: string
  /** Returns what the program has printed so far. */
  readonly printed: () => string
}

/** Starts a program of a how-to page with Node, and waits until it responds. */
export const startHostProgram = async (
  args: readonly string[],
  { cwd, env }: Required<Pick<ProgramOptions, 'cwd' | 'env'>>,
): Promise<HostProgram> => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const own = { SECRET_KEY: secretKey, PORT: String(port), BASE_URL: url, ORIGIN: url, ...env }
  const program = runNode(args, { cwd, env: own })
  for (let tries = 0; !(await fetch(url).catch(() => undefined)); tries += 1) {
    if (program.exit || tries > 1200) {
      await program.crash()
      throw new Error(`${args.join(' ')} does not serve: ${program.stderr}`)
    }
    await wait(50)
  }
  return {
    url,
    database: join(cwd, 'data/app.sqlite'),
    printed: () => program.stdout,
    [Symbol.asyncDispose]: () => program.crash(),
  }
}

/** The options in which the tests of the how-to pages differ. */
export type HostOptions = Partial<
  Pick<AuthorizationServerOptions, 'users' | 'secretKeys' | 'store' | 'scopes'>
>

/** Opens the database of a host program, to create users, clients and tokens. */
export const opened = (database: string, options: HostOptions = {}) =>
  createAuthorizationServer({
    issuer: 'http://localhost:3000',
    secretKeys: [secretKey],
    scopes: [new Scope('notes:read')],
    sweepInterval: 0,
    log: () => undefined,
    ...options,
    store: options.store ?? sqlite(database),
  })

/** Returns the status and the JSON of the response to a request with this token. */
export const callerAt = (url: string) => async (accessToken?: string) => {
  const headers: Record<string, string> =
    accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }
  const answer = await fetch(url, { headers })
  return [answer.status, answer.status === 200 ? await answer.json() : null]
}

/** Creates two tokens, one with the scope and one without, for a new user or for a user of the application. */
export const tokensOf = async (database: string, existing?: UserId, options: HostOptions = {}) => {
  const server = await opened(database, options)
  try {
    const email = 'reader@example.org'
    const id = existing ?? (await server.users.create({ email, password: null })).id
    const create = async (scopes: readonly string[]) =>
      (await server.tokens.createPersonal('Test', id, { scopes })).accessToken
    return { reads: await create(['notes:read']), nothing: await create([]) }
  } finally {
    await server.close()
  }
}
