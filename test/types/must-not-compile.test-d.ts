// Lines that must not compile. `tsc -p tsconfig.test.json` checks them, because an `@ts-expect-error` above a line that
// compiles is an error. The code never runs.
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
  // @ts-expect-error a plaintext token is not a digest
  tokens.findByAccess(presented)
  // @ts-expect-error a sealed token is not a digest
  tokens.findByRefresh(sealed)
  // @ts-expect-error a plaintext token is not sealed
  tokens.reseal(1, { accessToken: presented, refreshToken: null })
  // @ts-expect-error a digest is not a sealed value
  tokens.reseal(1, { accessToken: digest, refreshToken: null })
  // @ts-expect-error a plaintext session ID is not a digest
  store.sessions.find(presented)
  // @ts-expect-error an unknown type of secret
  digestOf('acess_token', presented)
  // @ts-expect-error an unknown purpose of a key
  keys.seal('tokens', presented, [])
  // @ts-expect-error a claim that is an object
  keys.sealRow([{}])
}

export const optionsAreKnown = () => {
  const given: AuthorizationServerOptions = {
    issuer: 'https://api.example.org',
    secretKeys: [undefined],
    store: sqlite(':memory:'),
  }
  createAuthorizationServer(given)
  // @ts-expect-error the issuer is missing
  createAuthorizationServer({ secretKeys: [], store: sqlite(':memory:') })
  // @ts-expect-error a misspelled setting
  createAuthorizationServer({ ...given, allowedGrantType: [] })
  // @ts-expect-error the name of an environment variable instead of a setting
  createAuthorizationServer({ ...given, OAUTH2_CACHE_TYPE: 'memory' })
  // @ts-expect-error a grant type that does not exist
  createAuthorizationServer({ ...given, allowedGrantTypes: ['implicit'] })
  // @ts-expect-error a string instead of a number
  createAuthorizationServer({ ...given, tokenExpiresIn: '3600' })
  // @ts-expect-error a string instead of a Scope
  createAuthorizationServer({ ...given, scopes: ['notes:read'] })
  // @ts-expect-error an unknown value of the option
  sqlite(':memory:', { synchronous: 'OFF' })
  // @ts-expect-error settings are read-only
  server.settings.tokenExpiresIn = 1
  // @ts-expect-error lists in settings are read-only
  server.settings.allowedGrantTypes.push('password')
}

export const recordsAreKnown = () => {
  server.clients.create({ name: 'Client' })
  // @ts-expect-error the name is missing
  server.clients.create({})
  // @ts-expect-error the server chooses the client ID
  server.clients.create({ name: 'Client', clientId: 'mine' })
  // @ts-expect-error the server generates the client secret
  server.clients.create({ name: 'Client', clientSecret: 'mine' })
  // @ts-expect-error only the server creates clients of personal tokens
  server.clients.create({ name: 'Client', isPersonal: true })
  // @ts-expect-error fields are read-only; update() changes them
  client.name = 'Other'
  // @ts-expect-error lists of a client are read-only
  client.redirectUris.push('https://evil.example')
  // @ts-expect-error derived attributes are read-only
  client.clientType = 'public'
  // @ts-expect-error the scopes of a token are read-only
  token.scopes.push('notes:write')
  // @ts-expect-error only a token that was just created has its value
  void token.accessToken
  const value: string = personal.accessToken
  // @ts-expect-error the user is missing
  server.tokens.createPersonal('Test')
  // @ts-expect-error the fields that a grant determines are missing
  server.tokens.issue({ type: 'user', client, scopes: [] })
  // @ts-expect-error the password is missing; null creates a user without a password
  server.users.create({ email: 'user-a@example.org' })
  return value
}

export const verificationOfTheAuditLogIsKnown = async () => {
  const found: AuditDefect[] = []
  const options: AuditVerificationOptions = { onDefect: (defect) => void found.push(defect) }
  const first: AuditVerification = await server.activity.verify(options)
  // @ts-expect-error the head is null without a checkpoint
  const head: string = first.head
  // @ts-expect-error a head is a string; null must be omitted
  server.activity.verify({ head: first.head })
  server.activity.verify({ head: first.head ?? undefined })
  // @ts-expect-error a misspelt option
  server.activity.verify({ onDefects: () => undefined })
  // @ts-expect-error defects is a number; onDefect receives each defect
  first.defects.map(({ kind }) => kind)
  // @ts-expect-error the result is read-only
  first.uncovered.rows = 0
  for (const { kind, ids } of found) {
    const text: string = ids
    // @ts-expect-error ids is a string of ranges
    const id: number = ids
    // @ts-expect-error a kind of defect that does not exist
    if (kind === 'row_lost') return [text, id]
  }
  return head
}

export const thePlanOfASweepIsKnown = async () => {
  const plan: SweepPlan = await server.sweepPlan()
  // @ts-expect-error the reason is null if the sweeper may run
  const reason: string = plan.heldBecause
  // @ts-expect-error a plan is read-only
  plan.missingUsers.push({ userId: '1', since: 0, removedFrom: 0 })
  for (const { what, why, count } of plan.rows) {
    const row: readonly [string, string, number] = [what, why, count]
    // @ts-expect-error times are milliseconds since the epoch
    const since: Date = plan.missingUsers[0]?.since
    void [row, since]
  }
  // @ts-expect-error a plan takes no arguments
  server.sweepPlan('tokens')
  const removed: number = await server.sweep().catch((error: unknown) => {
    if (!(error instanceof ClockInDoubt)) throw error
    const name: 'ClockInDoubt' = error.name
    // @ts-expect-error the error has no field for the reason
    return error.reason ?? name.length
  })
  return [reason, removed]
}

export const theSeamsAreKnown = () => {
  const opener: StoreOpener = sqlite(':memory:')
  // @ts-expect-error only the server opens a store
  void opener.clients
  // @ts-expect-error a misspelled hook
  const extension: Extension = { name: 'x', onAuthorisationRequest: () => undefined }
  // @ts-expect-error a grant must declare its parameters
  const grant: Grant = { type: 'x', redeem: async () => Promise.reject(new Error()) }
  // @ts-expect-error a string is not markup
  const page: PageTemplate<ViewOf<'problem'>> = ({ sentence }) => `<p>${sentence}</p>`
  const pages: Partial<Pages> = { problem: ({ sentence }) => html`<p>${sentence}</p>` }
  // @ts-expect-error an unknown page
  const misspelt: Partial<Pages> = { problems: page }
  // @ts-expect-error an error code that does not exist
  new OAuthError('invalid_tokens', 'x')
  // @ts-expect-error the option is `internal`
  new Scope('x', { isInternal: true })
  // @ts-expect-error the user is missing
  new UserProxy()
  // @ts-expect-error an object instead of a scope ID
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
  // @ts-expect-error only the names of an extension create its error codes
  new OAuthError('my_code', 'It is not valid.')
  context.limits.consume(names.limits.tries, '')
  // @ts-expect-error a limit that is not declared
  context.limits.consume(names.limits.others, '')
  names.values('code', context).put({ by: 'me' }, 0, 'owner')
  // @ts-expect-error a value of another type
  names.values('code', context).put({ from: 'me' }, 0, 'owner')
  // @ts-expect-error a kind that is not declared
  names.values('token', context)
  names.record('happened', { details: {} }, context)
  // @ts-expect-error an event that is not declared
  names.record('elsewhere', { details: {} }, context)
}
