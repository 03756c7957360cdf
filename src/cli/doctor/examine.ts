import { randomBytes } from 'node:crypto'
import type { AuthorizationServer } from '../../index.ts'
import { Application, methodOf, newKey, registration } from './application.ts'
import { asking, type Send, Unreachable } from './ask.ts'
import { bestPractices, deployment } from './best-practice.ts'
import { Browser } from './browser.ts'
import { challenges } from './challenge.ts'
import { crossOrigin } from './cross-origin.ts'
import type { Examination } from './examination.ts'
import { type Finding, fail, warn } from './finding.ts'
import { flow } from './flow.ts'
import { discover } from './metadata.ts'
import { pages } from './pages.ts'
import { refusals } from './refusals.ts'

export interface Patient {
  readonly issuer: string
  readonly send: Send
  /** The server's records, where somebody may log in for this. */
  readonly records?: Pick<AuthorizationServer, 'users' | 'clients' | 'settings'>
  /** Whether those are the records of this very server, and nobody else's: then its settings count too. */
  readonly isOurs: boolean
}

/** Examines a server as its clients and their users meet it. */
export const examine = async ({
  issuer,
  send,
  records,
  isOurs,
}: Patient): Promise<readonly Finding[]> => {
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
    if (records) findings.push(...(await withActors(examination, records)))
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    findings.push(fail('reachable', `${error.message} Nothing else was looked at.`))
  }
  return findings
}

/** Makes a user and a client for the flow, and deletes them. */
const withActors = async (
  examination: Examination,
  { users, clients }: NonNullable<Patient['records']>,
): Promise<readonly Finding[]> => {
  const { metadata, issuer, ask } = examination
  const method = methodOf(examination)
  const types = metadata.response_types_supported
  if (!method || !Array.isArray(types) || !types.includes('code')) {
    const advice =
      'No client that this program knows how to be can ask for a code: nothing was tried.'
    return [warn('flow-code', advice)]
  }
  const account = { email: `doctor-${random()}@svc-oauth2server.invalid`, password: random() }
  const user = await users.create({ ...account, emailVerified: false })
  try {
    const key = await newKey()
    const { client, clientSecret } = await clients.create({
      name: 'Doctor',
      userId: user.id,
      ...registration(method, key),
    })
    const { clientId } = client
    const application = new Application(examination, { clientId, clientSecret, method, key })
    return await flow(examination, { application, browser: new Browser(ask, issuer, account) })
  } finally {
    await users.delete(user.id)
  }
}

const random = (): string => randomBytes(16).toString('hex')
