// Code that must not compile. `tsc -p tsconfig.test.json` checks it: an `@ts-expect-error` above a line that compiles
// is an error itself. None of this runs.
import {
  type AuditDefect,
  type AuditVerification,
  type AuditVerificationOptions,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type Client,
  ClockInDoubt,
  createAuthorizationServer,
  type Extension,
  extensionNames,
  type Grant,
  html,
  OAuthError,
  type Pages,
  type PageTemplate,
  type PersonalToken,
  Scope,
  type ServerContext,
  type StoreOpener,
  type SweepPlan,
  shortLived,
  type Token,
  UserProxy,
  type ViewOf,
} from 'svc-oauth2server'
import { requireOauthScopes } from 'svc-oauth2server/express'
import { sqlite } from 'svc-oauth2server/sqlite'
import type { Digest } from '../../src/crypto/digest.ts'
import { digestOf } from '../../src/crypto/digest.ts'
import type { KeyRing, Sealed } from '../../src/crypto/sealed.ts'
import type { TokenStore } from '../../src/store/contract/tokens.ts'
import type { Store } from '../../src/store/store.ts'

declare const server: AuthorizationServer
declare const tokens: TokenStore
declare const store: Store
declare const keys: KeyRing
declare const presented: string
declare const digest: Digest
declare const sealed: Sealed
declare const client: Client
declare const token: Token
declare const personal: PersonalToken

export const secretsStayOutOfQueries = () => {
  tokens.findByAccess(digestOf('access_token', presented))
  // @ts-expect-error a token in the clear is no digest
  tokens.findByAccess(presented)
  // @ts-expect-error nor is a sealed one
  tokens.findByRefresh(sealed)
  // @ts-expect-error a text in the clear is not sealed
  tokens.reseal(1, { accessToken: presented, refreshToken: null })
  // @ts-expect-error a digest is not sealed either
  tokens.reseal(1, { accessToken: digest, refreshToken: null })
  // @ts-expect-error the identifier of a session in the clear is no digest
  store.sessions.find(presented)
  // @ts-expect-error kinds of secrets are named
  digestOf('acess_token', presented)
  // @ts-expect-error purposes of keys are named
  keys.seal('tokens', presented, [])
  // @ts-expect-error claims are plain values
  keys.sealRow([{}])
}

export const optionsAreKnown = () => {
  const given: AuthorizationServerOptions = {
    issuer: 'https://api.example.org',
    secretKeys: [undefined],
    store: sqlite(':memory:'),
  }
  createAuthorizationServer(given)
  // @ts-expect-error an issuer is needed
  createAuthorizationServer({ secretKeys: [], store: sqlite(':memory:') })
  // @ts-expect-error a misspelt setting
  createAuthorizationServer({ ...given, allowedGrantType: [] })
  // @ts-expect-error an environment's name is no name in code
  createAuthorizationServer({ ...given, OAUTH2_CACHE_TYPE: 'memory' })
  // @ts-expect-error a grant type that does not exist
  createAuthorizationServer({ ...given, allowedGrantTypes: ['implicit'] })
  // @ts-expect-error a number as text
  createAuthorizationServer({ ...given, tokenExpiresIn: '3600' })
  // @ts-expect-error a scope is an object
  createAuthorizationServer({ ...given, scopes: ['notes:read'] })
  // @ts-expect-error SQLite knows these two
  sqlite(':memory:', { synchronous: 'OFF' })
  // @ts-expect-error settings are not changed once the server runs
  server.settings.tokenExpiresIn = 1
  // @ts-expect-error nor are their lists
  server.settings.allowedGrantTypes.push('password')
}

export const recordsAreKnown = () => {
  server.clients.create({ name: 'Client' })
  // @ts-expect-error a name is needed
  server.clients.create({})
  // @ts-expect-error a client chooses no id of its own
  server.clients.create({ name: 'Client', clientId: 'mine' })
  // @ts-expect-error nor its secret
  server.clients.create({ name: 'Client', clientSecret: 'mine' })
  // @ts-expect-error nor that it stands behind a personal token
  server.clients.create({ name: 'Client', isPersonal: true })
  // @ts-expect-error fields are read; update() changes them
  client.name = 'Other'
  // @ts-expect-error so are lists
  client.redirectUris.push('https://evil.example')
  // @ts-expect-error derived attributes are read-only
  client.clientType = 'public'
  // @ts-expect-error a token cannot be widened
  token.scopes.push('notes:write')
  // @ts-expect-error only a token that was just made shows its value
  void token.accessToken
  const value: string = personal.accessToken
  // @ts-expect-error a personal token is made for somebody
  server.tokens.createPersonal('Test')
  // @ts-expect-error only what a grant found is issued
  server.tokens.issue({ type: 'user', client, scopes: [] })
  // @ts-expect-error email and password, or null for none
  server.users.create({ email: 'user-a@example.org' })
  return value
}

export const verificationOfTheAuditLogIsKnown = async () => {
  const found: AuditDefect[] = []
  const options: AuditVerificationOptions = { onDefect: (defect) => void found.push(defect) }
  const first: AuditVerification = await server.activity.verify(options)
  // @ts-expect-error without a checkpoint there is no head
  const head: string = first.head
  // @ts-expect-error a head is kept as text; null is left out
  server.activity.verify({ head: first.head })
  server.activity.verify({ head: first.head ?? undefined })
  // @ts-expect-error a misspelt option would find nothing
  server.activity.verify({ onDefects: () => undefined })
  // @ts-expect-error defects are counted; onDefect is told each
  first.defects.map(({ kind }) => kind)
  // @ts-expect-error what was checked is read
  first.uncovered.rows = 0
  for (const { kind, ids } of found) {
    const text: string = ids
    // @ts-expect-error ids are ranges as text
    const id: number = ids
    // @ts-expect-error a kind of defect that does not exist
    if (kind === 'row_lost') return [text, id]
  }
  return head
}

export const thePlanOfASweepIsKnown = async () => {
  const plan: SweepPlan = await server.sweepPlan()
  // @ts-expect-error null where it may sweep
  const reason: string = plan.heldBecause
  // @ts-expect-error a plan is read
  plan.missingUsers.push({ userId: '1', since: 0, removedFrom: 0 })
  for (const { what, why, count } of plan.rows) {
    const row: readonly [string, string, number] = [what, why, count]
    // @ts-expect-error times are milliseconds since the epoch
    const since: Date = plan.missingUsers[0]?.since
    void [row, since]
  }
  // @ts-expect-error a plan is of all kinds
  server.sweepPlan('tokens')
  const removed: number = await server.sweep().catch((error: unknown) => {
    if (!(error instanceof ClockInDoubt)) throw error
    const name: 'ClockInDoubt' = error.name
    // @ts-expect-error the reason is in its message
    return error.reason ?? name.length
  })
  return [reason, removed]
}

export const theSeamsAreKnown = () => {
  const opener: StoreOpener = sqlite(':memory:')
  // @ts-expect-error a store is opened by the server
  void opener.clients
  // @ts-expect-error a misspelt hook would never be called
  const extension: Extension = { name: 'x', onAuthorisationRequest: () => undefined }
  // @ts-expect-error a grant says what it reads
  const grant: Grant = { type: 'x', redeem: async () => Promise.reject(new Error()) }
  // @ts-expect-error text is no markup until somebody vouches for it
  const page: PageTemplate<ViewOf<'problem'>> = ({ sentence }) => `<p>${sentence}</p>`
  const pages: Partial<Pages> = { problem: ({ sentence }) => html`<p>${sentence}</p>` }
  // @ts-expect-error no page has this name
  const misspelt: Partial<Pages> = { problems: page }
  // @ts-expect-error an error code that does not exist
  new OAuthError('invalid_tokens', 'x')
  // @ts-expect-error the option is named internal
  new Scope('x', { isInternal: true })
  // @ts-expect-error a proxy needs a user
  new UserProxy()
  // @ts-expect-error scopes are ids
  requireOauthScopes(new Scope('x'))
  return [extension, grant, pages, misspelt]
}

declare const context: ServerContext

export const extensionsUseDeclaredNamesOnly = () => {
  const names = extensionNames('mine', {
    errors: { my_code: 400 },
    limits: { tries: { points: 1, seconds: 1 } },
    events: ['happened'],
    values: { code: shortLived<{ readonly by: string }>() },
  })
  names.error('my_code', 'It is not valid.')
  // @ts-expect-error an error code that is not declared
  names.error('your_code', 'It is not valid.')
  // @ts-expect-error an error code of an extension is made by its names alone
  new OAuthError('my_code', 'It is not valid.')
  context.limits.consume(names.limits.tries, '')
  // @ts-expect-error a limit that is not declared
  context.limits.consume(names.limits.others, '')
  names.values('code', context).put({ by: 'me' }, 0)
  // @ts-expect-error a value of another type
  names.values('code', context).put({ from: 'me' }, 0)
  // @ts-expect-error a kind that is not declared
  names.values('token', context)
  names.record('happened', { details: {} }, context)
  // @ts-expect-error an event that is not declared
  names.record('elsewhere', { details: {} }, context)
}
