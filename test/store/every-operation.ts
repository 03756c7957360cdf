import type { Sealed } from '../../src/crypto/sealed.ts'
import type { Expiring } from '../../src/store/contract/expiring.ts'
import type { Rows, Where } from '../../src/store/contract/rows.ts'
import type { SealedRows } from '../../src/store/contract/sealed.ts'
import type { Store } from '../../src/store/store.ts'
import {
  aClient,
  anAuthorization,
  aPair,
  aUser,
  auditRow,
  authorizationRow,
  authorizedToken,
  clientRow,
  consentRow,
  digest,
  refreshable,
  rotationOf,
  sessionRow,
  signingKeyRow,
  tokenRow,
  userRow,
} from './rows.ts'

const now = 500
const first = { after: null, limit: 10 }
const later = { after: '900.zzz', limit: 10 }

/** Runs the operations on the rows of a table. The row remains. */
const everyRowOperation = async <Row, Fields>(
  of: Omit<Rows<Row, Fields>, 'select'> & { select(where: Where<Fields>): Promise<unknown> },
  row: Row,
  where: Where<Fields>,
): Promise<void> => {
  await of.insert(row)
  await of.put(row)
  await of.update(where, where as Partial<Fields>)
  await of.select(where)
  await of.delete(where)
  await of.insert(row)
}

const expiring = async <End>(of: Expiring<End>, end: End): Promise<void> => {
  await of.countExpired(end, 10)
  await of.deleteExpired(end, 10)
}

const users = async ({ users: store }: Store): Promise<void> => {
  const row = userRow()
  const { id } = row
  await store.insert(row)
  await store.find(id)
  await store.find({ email: row.email })
  await store.list({}, null, 2)
  await store.list({}, row.id, 2)
  await store.list({ beginnings: ['user', 'use'] }, null, 2)
  await store.list({ beginnings: ['user'] }, row.id, 2)
  await store.update({ id }, { passwordHash: 'hash' })
  await store.update({ id }, { email: `other-${row.email}`, emailVerified: true, seal: row.seal })
  await store.list({ isIrregular: true }, null, 2)
  await store.delete(id, 1)
}

const clients = async (store: Store): Promise<void> => {
  const userId = await aUser(store)
  const row = clientRow({ userId })
  const { clientId } = row.fields
  await store.clients.insert(row)
  await store.clients.find(clientId)
  await store.clients.find({ secret: row.fields.clientSecret })
  await store.clients.find({ registrationToken: row.fields.clientSecret })
  await store.clients.update(clientId, row, 1)
  await store.clients.countTokens([clientId, 'other'], 10)
  for (const part of [first, later]) {
    await store.clients.list('owned', { userId }, part)
    await store.clients.list('matching', { text: '' }, part)
    await store.clients.list('matching', { text: 'text' }, part)
    for (const text of ['', 'text']) await store.clients.summaries('matching', { text }, part)
    await store.clients.list('authorized', { userId, now }, part)
    await store.clients.summaries('owned', { userId }, part)
    await store.clients.summaries('authorized', { userId, now }, part)
  }
  await store.clients.list('among', { clientIds: [clientId, 'other'] }, first)
  await store.clients.count('owned', { userId }, 10)
  await store.clients.count('matching', { text: 'text' }, 10)
  await expiring(store.clients, { before: now, inUse: ['client_credentials'] })
  await store.clients.endOwnTokens(clientId)
  await store.clients.deletePersonalOf(userId, now, 10)
  await store.clients.delete(clientId, 1)
}

const tokens = async (store: Store): Promise<void> => {
  const { tokens: of } = store
  const userId = await aUser(store)
  const clientId = await aClient(store)
  const pair = await aPair(store, clientId, { userId })
  const { id, row, authorizationId, refreshDigest } = pair
  const next = tokenRow({ ...row.fields }, refreshable())
  await of.findByAccess(row.accessDigest)
  await of.findByFormer(row.accessDigest)
  await of.findByRefresh(refreshDigest)
  await of.find(id)
  await of.rotate(rotationOf(pair, next))
  await of.rotate(rotationOf(pair))
  await store.rotatedTokens.find(refreshDigest)
  await of.find({ authorizationId }, { lock: 'change' })
  await of.select({ clientId }, { lock: 'change' })
  for (const part of [first, later]) {
    await of.list('personal', { userId, now }, part)
    await of.summaries('personal', { userId, now: 10 }, part)
    for (const text of ['', '1', clientId, 'a@example.org']) {
      await of.list('matching', { text }, part)
      for (const isPersonal of [false, true])
        await of.summaries('matching', { text, isPersonal }, part)
    }
  }
  await of.list('personal', { userId, now, ids: [id, id + 1] }, first)
  for (const text of ['', clientId]) await of.count('matching', { text }, 10)
  await of.personal(id, now)
  await of.count('personal', { userId, now: 0 }, 10)
  await of.select({ userId, name: 'name' })
  await of.find(id, { lock: 'change' })
  await of.authorizedOf(userId, [clientId, 'other'], now, { limit: 5, countLimit: 10 })
  await of.authorized(id, now)
  await of.rewrite(id, next)
  await of.touch(new Map([[id, { at: 1, address: '::1' }]]))
  await of.noteScopes(new Map([[id, ['notes:read']]]))
  await of.delete({ successorId: id })
  await of.delete({ parentId: id })
  await expiring(of, 1)
  await of.deleteSurplus({ authorizationId: 1, before: 1 }, { keep: 5, limit: 10 })
  for (const owner of [userId, null])
    for (const keep of [0, 5])
      await of.deleteSurplus({ clientKey: 1, userId: owner }, { keep, limit: 10 })
  await of.deleteSurplus({ parentId: id }, { keep: 0, limit: 10 })
  await of.delete({ id })
  await of.restore(id, next)
  await of.insert(tokenRow({ clientId }))
}

const authorizations = async (store: Store): Promise<void> => {
  const { authorizations: of } = store
  const userId = await aUser(store)
  const clientId = await aClient(store)
  const id = await anAuthorization(store, { clientId, userId })
  await of.insertOnce(authorizationRow({ clientId, codeDigest: digest('authorization_code') }))
  await of.insertWithToken?.(await authorizedToken(store))
  await of.extend(id, now)
  await of.find(id)
  await of.find({ codeDigest: digest('authorization_code') })
  await of.listExceeding(userId, clientId, 5)
  await of.revoke(id, now)
  await of.revokeOfUser(userId, clientId, now, 10)
  await of.revokeOfUser(userId, null, now, 10)
  await expiring(of, 1)
}

const consents = async (store: Store): Promise<void> => {
  const { consents: of } = store
  const userId = await aUser(store)
  const clientId = await aClient(store)
  await of.insert(consentRow({ userId, clientId }))
  await of.put(consentRow({ userId, clientId }))
  await of.find({ userId, clientId })
  await of.findOfSession(digest('session'), clientId)
  await of.findGrant(userId, clientId, digest('session'))
  await of.select({ userId, clientId: [clientId, 'other'] })
  await of.delete(userId, clientId)
  await of.delete(userId, null)
}

const sessions = async (store: Store): Promise<void> => {
  const { sessions: of } = store
  const userId = await aUser(store)
  const row = sessionRow({ userId })
  await of.insert(row)
  await of.find(row.id)
  await everyRowOperation(of, row, { id: row.id })
  await of.update({ id: row.id }, { lastSeenAt: 2, seal: row.seal })
  await of.list('ofUser', { userId }, first)
  await of.list('ofUser', { userId }, later)
  await of.deleteSurplus({ userId, now: 1, idleSince: 1 }, { keep: 5, limit: 10 })
  await of.delete({ userId, id: { not: row.id } })
  await of.delete({ userId })
  await expiring(of, { now: 1, idleSince: 1 })
}

const logoutNotices = async ({ logoutNotices: of }: Store): Promise<void> => {
  const times = { now: 1, expiresAt: 9 }
  await of.add([{ clientKey: 1, sid: 'sid' }], 1, times, 10)
  const share = { limit: 10, each: 5, busyUsers: ['2'], busyClients: [2] }
  const [notice] = await of.claim(2, 5, share)
  await of.update({ id: notice?.id ?? '' }, { dueAt: 3 })
  if (notice) await everyRowOperation(of, notice, { id: notice.id })
  await expiring(of, 9)
}

const clientLogins = async (store: Store): Promise<void> => {
  const { clientLogins: of } = store
  const userId = await aUser(store)
  const clientKey = 1
  const login = { session: 'one', sid: 'sid', clientKey, userId, isOffline: false, expiresAt: 9 }
  await of.insert({ ...login, authorizationId: 1 })
  await of.insert({ ...login, authorizationId: null })
  await of.delete({ id: '1' })
  await of.update({ session: 'one' }, { session: 'two' })
  await of.take({ session: 'two' })
  await of.take({ userId, hasEnded: true })
  await of.take({ userId })
  await everyRowOperation(of, { ...login, authorizationId: 2 }, { id: '2' })
  await expiring(of, 1)
}

const clientLogos = async (store: Store): Promise<void> => {
  const { clientLogos: of } = store
  const clientId = await aClient(store, { isVerified: true })
  const key = clientRow({ clientId }).fields.clientKey
  const logo = { clientKey: key, digest: 'digest', image: '', requestedAt: 1, problem: null }
  await everyRowOperation(of, logo, { clientKey: key })
  await of.claim(1, 2)
  await of.find('digest')
}

const transients = async ({ transients: of }: Store): Promise<void> => {
  await of.put('key', 'value', 9, 1)
  await of.set('key', 'value', 9, 1)
  await of.get(['key'], 1)
  await of.get(['x', 'y'], 1)
  await of.increment('count', 9, 1)
  await of.take('key', 1)
  await of.delete('count')
  await of.deleteExpired(1, 10)
}

const signingKeys = async ({ signingKeys: of }: Store): Promise<void> => {
  const key = signingKeyRow()
  await everyRowOperation(of, key, { id: key.id })
}

const others = async (store: Store): Promise<void> => {
  const { removals, sweeperNotes, transientRows, secretKeys, audit } = store
  await removals.idsInUse(null, 10)
  await removals.idsInUse(1, 10)
  await removals.removeSome({ kind: 'user', key: 1, before: 1 }, 10)
  await removals.hasOlder(1, 1)
  await removals.findOrphans(0, 10)
  const removal = { kind: 'client', key: 1 } as const
  await everyRowOperation(removals, { ...removal, at: 1 }, removal)
  await removals.select({}, { after: removal, limit: 10 })
  for (const kind of ['client', 'user'] as const) {
    await removals.removeSome({ kind, key: 1 }, 10)
    await removals.delete({ kind, key: 1 })
  }
  const kind = 'missing user'
  await everyRowOperation(sweeperNotes, { kind, key: '1', at: 1 }, { kind, key: '1' })
  await sweeperNotes.select({ kind, key: ['1', '2'] })
  await sweeperNotes.select({ kind, at: { upTo: 1 } }, { by: ['at'], limit: 10 })
  await sweeperNotes.delete({ kind, key: ['1', '2'] })
  await expiring(sweeperNotes, { kind: 'deleted token', at: 1 })
  await expiring(transientRows, 1)
  await audit.countExpired(1, 10)
  await everyRowOperation(secretKeys, { id: 'key', createdAt: 1 }, { id: 'key' })
  await audit.add(auditRow())
  await audit.addMany([auditRow(), auditRow()])
  const filters = [
    {},
    { event: 'login.failed' },
    { userId: 1 },
    { userId: 1, withoutRoutine: true },
    { clientId: 'c' },
    { tokenId: 1, withoutRoutine: true },
    { address: '192.0.2.1', withoutRoutine: true },
    { event: 'login.failed', userId: 1, clientId: 'c', since: 0, until: 9 },
  ]
  for (const filter of filters) {
    await audit.list('latest', filter, { after: null, limit: 10 })
    await audit.list('latest', filter, { after: '9.9', limit: 10 })
    await audit.list('earliest', filter, { after: null, limit: 10 })
    await audit.list('earliest', filter, { after: '0.0', limit: 10 })
  }
  await audit.select({}, { limit: 10 })
  await audit.select({ id: { upTo: 5 } }, { after: { id: 1 }, limit: 10 })
  await audit.isSettled(await audit.mark({ after: 0, until: 2 ** 44 }))
  await audit.copies({ after: 0, until: 10 })
  await audit.deleteExpired({ lastId: 1 }, 10)
  const checkpoint = {
    number: 1,
    at: 1,
    afterId: 0,
    lastId: 1,
    ids: '1',
    rowsDigest: '',
    latestAt: 1,
  }
  const seal = 'none' as Sealed
  const whole = { ...checkpoint, forged: '', removedUpTo: 0, previous: '', seal }
  await everyRowOperation(store.auditCheckpoints, whole, { number: 1 })
  await store.auditCheckpoints.select({}, { after: { number: 0 }, limit: 10 })
  await store.auditCheckpoints.select({}, { limit: 1, isReversed: true })
  for (const rows of Object.values(store.sealed) as readonly SealedRows[]) {
    const { rows: found, next } = await rows.notUnder('none', null, 1)
    if (next) await rows.notUnder('none', next, 1)
    await rows.countUnder('none', 10)
    await rows.reseal(found.map((before) => ({ before, sealed: before.sealed })))
  }
  await expiring(store.auditCheckpoints, 1)
  const count = { at: 0, event: 'e', grantType: '', clientId: 'c', userId: 1, count: 1 }
  await store.auditCounts.put([{ ...count, writer: 1 }])
  await store.auditCounts.list({ userId: 1 }, { after: null, limit: 1 })
  await store.auditCounts.totals({ clientId: 'c', since: 0 }, 1)
  await expiring(store.auditCounts, 1)
}

/** Runs every operation of a store at least once, with each form that its statements can take. */
export const everyOperation = async (store: Store): Promise<void> => {
  const walks = [
    users,
    clients,
    tokens,
    authorizations,
    consents,
    sessions,
    clientLogins,
    logoutNotices,
    clientLogos,
    transients,
  ]
  for (const walk of [...walks, signingKeys]) await walk(store)
  // Create a row that `reseal` can write.
  const [userId, clientId] = [await aUser(store, { passwordHash: 'hash' }), await aClient(store)]
  await store.tokens.rotate(rotationOf(await aPair(store, clientId)))
  await aPair(store, clientId)
  await store.consents.put(consentRow({ userId, clientId }))
  await store.sessions.insert(sessionRow({ userId }))
  await store.signingKeys.insert(signingKeyRow())
  await others(store)
}
