import { createHash, randomBytes } from 'node:crypto'
import { type Digest, digestOf, type SecretKind } from '../../src/crypto/digest.ts'
import type { Sealed } from '../../src/crypto/sealed.ts'
import type { SealedAuditEvent } from '../../src/model/audit-event.ts'
import type { NewAuthorization } from '../../src/model/entities/authorization.ts'
import { blankClient, type SealedClient } from '../../src/model/entities/client.ts'
import type { SealedConsent } from '../../src/model/entities/consent.ts'
import type { StoredSession } from '../../src/model/entities/session.ts'
import type { StoredSigningKey } from '../../src/model/entities/signing-key.ts'
import { blankToken, type NewToken } from '../../src/model/entities/token.ts'
import type { AuthorizedToken } from '../../src/store/contract/authorizations.ts'
import type { NewUser } from '../../src/store/contract/users.ts'
import type { Store } from '../../src/store/store.ts'

// Rows as `src/records` writes them. The sealed values are random, because a store does not open them.

export const text = (): string => randomBytes(12).toString('hex')
export const digest = (kind: SecretKind = 'access_token', secret = text()): Digest =>
  digestOf(kind, secret)
export const sealed = (): Sealed => text() as Sealed

/** Derives the key of a client from its ID, so that all rows of a client contain the same key. */
export const clientKey = (clientId: string): number =>
  createHash('sha256').update(clientId).digest().readUIntBE(0, 6)

export const userRow = (over: Partial<NewUser> = {}): NewUser => ({
  id: randomBytes(6).readUIntBE(0, 6),
  email: `${text()}@example.org`,
  passwordHash: null,
  active: true,
  emailVerified: true,
  isAdmin: false,
  createdAt: 1,
  seal: sealed(),
  ...over,
})

export const clientRow = ({
  clientId = text(),
  ...over
}: Partial<SealedClient['fields']> = {}): SealedClient => ({
  fields: {
    clientKey: clientKey(clientId),
    clientId,
    ...blankClient,
    clientSecret: digest('client_secret'),
    name: 'Client',
    createdAt: 1,
    ...over,
  },
  seal: sealed(),
  stateSeal: sealed(),
})

export const tokenRow = (
  fields: Partial<NewToken['fields']> & { readonly clientId: string },
  over: Partial<Omit<NewToken, 'fields'>> = {},
): NewToken => ({
  fields: {
    clientKey: clientKey(fields.clientId),
    ...blankToken,
    userId: null,
    expires: 1_000,
    scopes: ['a', 'b'],
    createdAt: 1,
    ...fields,
  },
  accessDigest: digest('access_token'),
  accessToken: sealed(),
  refreshDigest: null,
  refreshToken: null,
  successorId: null,
  formerDigest: null,
  formerExpires: null,
  ...over,
})

/** Returns the secrets of a pair with a refresh token. */
export const refreshable = () => ({
  refreshDigest: digest('refresh_token'),
  refreshToken: sealed(),
})

export const authorizationRow = ({
  clientId,
  ...over
}: Partial<NewAuthorization> & { readonly clientId: string }): NewAuthorization => ({
  clientKey: clientKey(clientId),
  userId: null,
  scopes: ['a', 'b'],
  resources: [],
  code: null,
  codeDigest: null,
  userAgent: '',
  createdAt: 1,
  expiresAt: 1_000,
  revokedAt: null,
  ...over,
})

export const consentRow = (
  over: Partial<SealedConsent['consent']> & Pick<SealedConsent['consent'], 'userId' | 'clientId'>,
): SealedConsent => ({
  consent: {
    clientKey: clientKey(over.clientId),
    id: text(),
    scopes: ['a'],
    declinedScopes: [],
    reusedSince: null,
    grantedAt: 1,
    ...over,
  },
  seal: sealed(),
})

export const sessionRow = (
  over: Partial<StoredSession> & Pick<StoredSession, 'userId'>,
): StoredSession => ({
  id: digest('session'),
  address: '127.0.0.1',
  userAgent: 'test',
  createdAt: 1,
  expiresAt: 1_000,
  lastSeenAt: 1,
  seal: sealed(),
  ...over,
})

/** The rows of a redeemed code, with a consent and a session that allow the insert. */
export const authorizedToken = async (
  store: Store,
  over: Partial<AuthorizedToken> = {},
): Promise<AuthorizedToken> => {
  const [userId, clientId] = [await aUser(store), await aClient(store)]
  const consent = consentRow({ userId, clientId, scopes: ['a', 'b'] })
  await store.consents.insert(consent)
  const session = sessionRow({ userId })
  await store.sessions.insert(session)
  const grant = await store.consents.findGrant(userId, clientId, session.id)
  return {
    ids: grant?.reserved,
    authorization: authorizationRow({ clientId, userId, codeDigest: digest('authorization_code') }),
    tokenOf: (authorizationId) =>
      tokenRow({ clientId, userId, authorizationId, refreshExpires: 2_000 }, refreshable()),
    eventOf: () => auditRow(),
    login: undefined,
    consent: { id: consent.consent.id, scopes: ['a', 'b'] },
    sessionId: session.id,
    most: 10,
    ...over,
  }
}

const required = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('A row of the test could not be created.')
  return value
}

export const aUser = async (store: Store, over?: Partial<NewUser>) => {
  const row = userRow(over)
  if (!(await store.users.insert(row))) throw new Error('The user was not inserted.')
  return row.id
}

export const aClient = async (store: Store, over?: Partial<SealedClient['fields']>) => {
  const row = clientRow(over)
  if (!(await store.clients.insert(row))) throw new Error('The client was not inserted.')
  return row.fields.clientId
}

export const anAuthorization = async (
  store: Store,
  over: Partial<NewAuthorization> & { readonly clientId: string },
) => required(await store.authorizations.insertOnce(authorizationRow(over)))

/** Inserts a token that can be refreshed, with its authorization. */
export const aPair = async (
  store: Store,
  clientId: string,
  fields: Partial<NewToken['fields']> = {},
) => {
  const authorizationId = await anAuthorization(store, { clientId })
  const row = tokenRow(
    { clientId, authorizationId, refreshExpires: 2_000, ...fields },
    refreshable(),
  )
  return {
    id: required(await store.tokens.insert(row)),
    authorizationId,
    row,
    refreshDigest: required(row.refreshDigest ?? undefined),
  }
}

export const rotatedRow = (authorizationId: number, over: { digest?: Digest } = {}) => ({
  digest: digest('refresh_token'),
  authorizationId,
  successor: digest('refresh_token'),
  parameters: 'a',
  rotatedAt: 5,
  seal: 'a seal' as Sealed,
  ...over,
})

/** Returns the rotation of a pair. */
export const rotationOf = (
  { id, row, refreshDigest }: { id: number; row: NewToken; refreshDigest: Digest },
  next: NewToken = tokenRow(row.fields, refreshable()),
) => ({
  id,
  replaced: { accessDigest: row.accessDigest, expires: row.fields.expires },
  next,
  rotated: rotatedRow(row.fields.authorizationId ?? 0, { digest: refreshDigest }),
  mayBeExchanged: false,
  endsAt: 0,
})

/** Inserts a rotated refresh token without a current token. */
export const insertRotated = async (
  store: Store,
  rotated: ReturnType<typeof rotatedRow>,
): Promise<void> => {
  const { clientId, clientKey } = required(await store.authorizations.find(rotated.authorizationId))
  const { authorizationId, digest: refreshDigest } = rotated
  const row = tokenRow(
    { clientId, clientKey, authorizationId },
    { ...refreshable(), refreshDigest },
  )
  const id = required(await store.tokens.insert(row))
  try {
    await store.tokens.rotate({ ...rotationOf({ id, row, refreshDigest }), rotated })
  } finally {
    await store.tokens.delete({ id })
  }
}

export const signingKeyRow = (over: Partial<StoredSigningKey> = {}): StoredSigningKey => ({
  id: text(),
  algorithm: 'ES256',
  publicKey: '{}',
  privateKey: sealed(),
  createdAt: 1,
  ...over,
})

export const auditRow = (over: Partial<SealedAuditEvent> = {}): SealedAuditEvent =>
  ({
    at: 1,
    event: 'client.disabled',
    actor: 'user',
    actorId: 7,
    actorEmail: 'admin@example.org',
    userId: 8,
    userEmail: 'user@example.org',
    clientId: 'c',
    tokenId: 5,
    authorizationId: 6,
    subject: 'Größe',
    address: '2001:db8::1',
    userAgent: 'a browser',
    requestId: 'r1',
    isRoutine: false,
    details: {},
    seal: 'no seal',
    ...over,
  }) as SealedAuditEvent

/** Runs the work `times` times concurrently. */
export const runConcurrently = <T>(
  times: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> => Promise.all(Array.from({ length: times }, (_, index) => work(index)))

/** Returns the results of the calls that succeeded. */
export const successes = <T>(results: readonly (T | undefined | false)[]): T[] =>
  results.filter((result): result is T => result !== undefined && result !== false)
