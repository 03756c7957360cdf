import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'
import {
  type AuthorizationServer,
  type ClientInput,
  createAuthorizationServer,
  type User,
} from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { freePort, notesEnvironment, type RunningServer, runNode } from './processes.ts'
import { redirectUri } from './redirect-uris.ts'
import { testScopes } from './scopes.ts'
import { authorizeUrl, newPkce, type Pkce, UserAgent } from './user-agent.ts'

export { redirectUri }
export const secretKey = 'the secret key of all nodes, longer than 32 bytes'
export const email = 'user-a@example.org'
export const password = 'correct horse battery staple'

/** A fault that occurs in a node at a store operation. `at` is for instance `before tokens.insert`. */
export interface Fault {
  readonly at: string
  readonly does: 'kill' | 'pause' | 'fail'
  /** The length of a pause. */
  readonly milliseconds?: number
  /** How many times the operation must run until the fault occurs. Default: 1. */
  readonly time?: number
}

/** A command to a node. The node returns the operations that have run since the previous command. */
export interface Command {
  readonly fault?: Fault
}

/** A process of the notes application. All nodes of a test share one database. */
export interface Node extends RunningServer {
  /** Sets the next fault; undefined clears it. @returns the operations that have run since the previous call */
  order(fault?: Fault): Promise<readonly string[]>
}

export interface Cluster {
  /** The folder of the database. */
  readonly data: string
  /** The public URL of all nodes. */
  readonly issuer: string
  readonly env?: Readonly<Record<string, string>>
  /** The network namespace of the node: see `ProgramOptions`. */
  readonly namespace?: string | undefined
  /** The maximum lifetime of a node in milliseconds. */
  readonly lifetime?: number
  /** The program of the nodes. Default: the notes application. */
  readonly program?: string
}

const notesNode = resolve(import.meta.dirname, '../full/fixtures/node.ts')

export const startNode = async ({
  data,
  issuer,
  env,
  lifetime,
  namespace,
  program: file = notesNode,
}: Cluster): Promise<Node> => {
  const port = await freePort()
  const program = runNode([file], {
    messages: true,
    namespace,
    ...(lifetime !== undefined && { limit: lifetime }),
    env: {
      ...notesEnvironment(port, data),
      BASE_URL: issuer,
      SECRET_KEY: secretKey,
      OAUTH2SERVER_SWEEP_INTERVAL: '0',
      ...env,
    },
  })
  await program.says(/^serving$/m)
  return {
    program,
    port,
    url: `http://localhost:${port}`,
    order: async (fault) => (await program.ask(fault ? { fault } : {})) as readonly string[],
    [Symbol.asyncDispose]: () => program.crash(),
  }
}

export const databaseIn = (data: string): string => join(data, 'oauth2server.sqlite')

/** Opens the database of the nodes in this process, as a command of the command line does. */
export const openRecords = ({
  data,
  issuer,
  env: { DATABASE_URL: url } = {},
}: Pick<Cluster, 'data' | 'issuer' | 'env'>): Promise<AuthorizationServer> =>
  createAuthorizationServer({
    issuer,
    secretKeys: [secretKey],
    store: url === undefined ? sqlite(databaseIn(data)) : postgres(url, { poolSize: 5 }),
    scopes: testScopes,
    sweepInterval: 0,
    log: () => undefined,
  })

/** Creates the user and a client of the user. */
export const createUserAndClient = async (
  records: AuthorizationServer,
  input: Partial<ClientInput> = {},
): Promise<{ user: User; client: NodeClient }> => {
  const user = await records.users.create({ email, password })
  return { user, client: await registerClient(records, user, input) }
}

export const registerClient = async (
  { clients }: AuthorizationServer,
  { id }: User,
  input: Partial<ClientInput> = {},
): Promise<NodeClient> => {
  const { client, clientSecret } = await clients.create({
    name: 'Client',
    userId: id,
    redirectUris: [redirectUri],
    ...input,
  })
  return new NodeClient(client.clientId, clientSecret)
}

export interface HttpResponse {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A form that is ready to be sent. */
export interface Form {
  readonly url: string
  readonly authorization: string
  readonly fields: Readonly<Record<string, string>>
}

/** A confidential client that can send its requests to any node. */
export class NodeClient {
  readonly clientId: string
  clientSecret: string
  readonly pkce: Pkce = newPkce()

  constructor(clientId: string, clientSecret: string) {
    this.clientId = clientId
    this.clientSecret = clientSecret
  }

  /** Returns the URL of an authorization request at a node. */
  authorizeUrl(node: RunningServer, scope = 'notes:read'): string {
    return authorizeUrl(node.url, {
      client_id: this.clientId,
      redirect_uri: redirectUri,
      scope,
      state: 'xyz',
      code_challenge: this.pkce.challenge,
      code_challenge_method: 'S256',
    })
  }

  /** Makes the user consent at a node, and returns the redirect. */
  async code(node: RunningServer, agent: UserAgent, scope?: string): Promise<string> {
    const login = { issuer: node.url, user: { email } as User, password }
    const answer = await agent.authorize(login, this.authorizeUrl(node, scope))
    const code = answer.searchParams.get('code')
    if (code === null) throw new Error(`There is no code in ${answer}.`)
    return code
  }

  form({ url }: RunningServer, fields: Readonly<Record<string, string>>): Form {
    const credentials = Buffer.from(`${this.clientId}:${this.clientSecret}`).toString('base64')
    return { url: `${url}/oauth/token`, authorization: `Basic ${credentials}`, fields }
  }

  redemption(node: RunningServer, code: string): Form {
    return this.form(node, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: this.pkce.verifier,
    })
  }

  refreshForm(node: RunningServer, refreshToken: unknown): Form {
    return this.form(node, { grant_type: 'refresh_token', refresh_token: String(refreshToken) })
  }

  /** Requests the tokens of a new authorization. */
  async tokens(node: RunningServer, agent = new UserAgent()): Promise<HttpResponse['body']> {
    const { status, body } = await send(this.redemption(node, await this.code(node, agent)))
    if (status !== 200) throw new Error(`The code was not redeemed: ${JSON.stringify(body)}`)
    return body
  }
}

/** Sends a form. The promise rejects if no complete response arrives. */
export const send = async (form: Form): Promise<HttpResponse> => {
  const [answer] = await sendConcurrently([form])
  if (answer?.status !== 'fulfilled') throw answer?.reason
  return answer.value
}

/**
 * Sends forms at almost the same time, each over a separate socket: first every form without its last byte, then the
 * last bytes of all forms.
 */
export const sendConcurrently = async (
  forms: readonly Form[],
): Promise<readonly PromiseSettledResult<HttpResponse>[]> => {
  const begun = await Promise.all(forms.map(prepare))
  const responses = begun.map(({ finish }) => finish())
  return Promise.allSettled(responses)
}

/** Sends a form without its last byte. `finish` sends the last byte. */
export const prepare = ({
  url,
  authorization,
  fields,
}: Form): Promise<{ finish(): Promise<HttpResponse> }> =>
  new Promise((ready, failed) => {
    const body = new URLSearchParams(fields).toString()
    const sent = request(url, {
      method: 'POST',
      agent: false,
      signal: AbortSignal.timeout(20_000),
      headers: {
        authorization,
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': Buffer.byteLength(body),
      },
    })
    const answer = new Promise<HttpResponse>((answered, lost) => {
      sent.once('error', lost)
      sent.once('response', (response) => {
        json(response).then(
          (parsed) =>
            answered({ status: response.statusCode ?? 0, body: parsed as HttpResponse['body'] }),
          lost,
        )
      })
    })
    // The caller may await the response later. Handle the rejection now, so that Node does not report it as unhandled.
    answer.catch(failed)
    sent.write(body.slice(0, -1), (error) =>
      error
        ? failed(error)
        : ready({
            finish: () => {
              sent.end(body.slice(-1))
              return answer
            },
          }),
    )
  })

/** Sends a token to a protected endpoint of a node. @returns the status of the response */
export const ping = async ({ url }: RunningServer, token: unknown): Promise<number> => {
  const answer = await fetch(`${url}/oauth/ping`, { headers: { authorization: `Bearer ${token}` } })
  await answer.body?.cancel()
  return answer.status
}

/** Queries the database file directly, without a node. */
export const query = (
  data: string,
  sql: string,
  ...parameters: readonly (string | number)[]
): readonly Readonly<Record<string, unknown>>[] => {
  using database = new DatabaseSync(databaseIn(data), { timeout: 5_000 })
  return database.prepare(sql).all(...parameters)
}
