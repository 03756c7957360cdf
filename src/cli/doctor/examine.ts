import { randomBytes } from 'node:crypto'
import { type AuthorizationServer, NotOurUsers, type User } from '../../index.ts'
import { aiClientChecks } from './ai-client-checks.ts'
import { Application, methodsOf, newKey, registration } from './application.ts'
import { asking, type Send, Unreachable } from './ask.ts'
import { bestPractices, deployment, seenAddress } from './best-practice.ts'
import { Browser } from './browser.ts'
import { challenges } from './challenge.ts'
import { crossOrigin } from './cross-origin.ts'
import type { Examination } from './examination.ts'
import { type Finding, fail, skip } from './finding.ts'
import { flow } from './flow.ts'
import { discover, type Metadata } from './metadata.ts'
import { pages } from './pages.ts'
import { refusals } from './refusals.ts'

export interface ExamineOptions {
  readonly issuer: string
  readonly send: Send
  /** A server on the database of the examined server. With these records, the doctor creates a user and clients. */
  readonly records?: Pick<AuthorizationServer, 'users' | 'clients' | 'sessions' | 'settings'>
  /** Whether `records` is the examined server. If so, the checks also use its settings. */
  readonly isOurs: boolean
  /** Whether to check the known AI clients. */
  readonly aiClients?: boolean
  /** The IP address at which the doctor reaches the server, if known. */
  readonly reachedAt?: string | undefined
}

/** Examines a server from the point of view of its clients and users. */
export const examine = async ({
  issuer,
  send,
  records,
  isOurs,
  aiClients = false,
  reachedAt,
}: ExamineOptions): Promise<readonly Finding[]> => {
  const ask = asking(send)
  const findings: Finding[] = []
  try {
    const { findings: first, metadata } = await discover(issuer, ask)
    findings.push(...first)
    if (!metadata) return findings
    const settings = isOurs ? records?.settings : undefined
    const examination: Examination = { issuer, metadata, ask, settings }
    for (const look of [crossOrigin, challenges, pages, refusals, bestPractices, deployment])
      findings.push(...(await look(examination)))
    if (aiClients) findings.push(...(await aiClientChecks(examination)))
    if (records) findings.push(...(await withActors(examination, records, reachedAt)))
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    findings.push(fail('reachable', `${error.message} The remaining checks were omitted.`))
  }
  return findings
}

/** Creates a user and clients for the flow, and deletes them afterwards. */
const withActors = async (
  examination: Examination,
  { users, clients, sessions }: NonNullable<ExamineOptions['records']>,
  reachedAt: string | undefined,
): Promise<readonly Finding[]> => {
  const { metadata, issuer, ask } = examination
  const methods = methodsOf(examination)
  const [method] = methods
  const reason = whyNoFlow(metadata, method)
  if (method === undefined || reason !== undefined)
    return [skip('flow-code', `${reason}, so the flow cannot be run.`)]
  const account = { email: `doctor-${random()}@svc-oauth2server.invalid`, password: random() }
  const user = await createUser(users, account)
  if (!user)
    return [
      skip(
        'flow-code',
        'the users belong to the application, so the doctor cannot create a user. Without --url, the doctor examines the flow with built-in users.',
      ),
    ]
  try {
    const key = await newKey()
    const registered = async (method: (typeof methods)[number]): Promise<Application> => {
      const { client, clientSecret } = await clients.create({
        name: 'Doctor',
        userId: user.id,
        ...registration(method, key),
      })
      const { clientId } = client
      return new Application(examination, { clientId, clientSecret, method, key })
    }
    const application = await registered(method)
    // Use a public and a confidential client if the server supports both, because the rules for them differ.
    const other = method === 'none' ? methods[1] : undefined
    const confidential = other && (await registered(other))
    const browser = new Browser(ask, issuer, account)
    const findings = await flow(examination, { application, confidential, browser })
    if (reachedAt === undefined) return findings
    const { items } = await sessions.listByUser(user.id, { after: null, limit: 1 })
    return [...findings, ...items.flatMap(({ address }) => seenAddress(address, reachedAt))]
  } finally {
    await users.delete(user.id)
  }
}

/** Creates a user. Returns undefined if only the application can create users. */
const createUser = async (
  users: AuthorizationServer['users'],
  account: { readonly email: string; readonly password: string },
): Promise<User | undefined> => {
  try {
    return await users.create({ ...account, emailVerified: false })
  } catch (error) {
    if (error instanceof NotOurUsers) return undefined
    throw error
  }
}

const whyNoFlow = (metadata: Metadata, method: string | undefined): string | undefined => {
  const types = metadata.response_types_supported
  if (!Array.isArray(types) || !types.includes('code'))
    return 'the server does not support the response type code'
  if (method === undefined) {
    const offered = JSON.stringify(metadata.token_endpoint_auth_methods_supported) ?? 'none'
    return `the server offers no client authentication method that this program supports (${offered})`
  }
  return undefined
}

const random = (): string => randomBytes(16).toString('hex')
