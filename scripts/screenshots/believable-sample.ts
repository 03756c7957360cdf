import type { AuthorizationServer, UserId } from 'svc-oauth2server'
import { authorize } from './authorization.ts'
import { beginSession, type Device } from './browser-session.ts'
import { createCollector } from './collector.ts'
import {
  type FillSample,
  registered,
  type SampleClock,
  tokenIdOf,
  uncheckedClients,
} from './sample.ts'

const password = 'correct horse battery staple'

const onLinux: Device = {
  address: '203.0.113.24',
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
}
const onPhone: Device = {
  address: '2001:db8:4f1a::17',
  userAgent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
}
const onWindows: Device = {
  address: '198.51.100.71',
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0',
}

/** Fills the database with users and realistic data of one year. */
export const fillBelievably: FillSample = async (server, clock) => {
  const collector = await createCollector(server, clock)
  clock.daysAgo(420)
  const viewer = await server.users.create({ email: 'ada@example.org', password, isAdmin: true })
  const grace = await server.users.create({ email: 'grace@example.net', password })
  const newcomer = await server.users.create({ email: 'alan@example.com', password })

  const print = await registered(server, {
    name: 'Photo Print',
    description: 'Prints your notes as a little book, and sends it to you by post.',
    website: 'https://photo-print.example/',
    userId: viewer.id,
    redirectUris: ['https://photo-print.example/callback', 'http://localhost:8080/callback'],
    defaultScopes: ['notes:read'],
    optionalScopes: ['user:email'],
    openid: {
      post_logout_redirect_uris: ['https://photo-print.example/'],
      backchannel_logout_uri: 'https://photo-print.example/logged-out',
    },
  })
  const unchecked = await uncheckedClients(server, {
    name: 'Desk Assistant',
    address: 'https://desk-assistant.example/',
    document: 'https://desk-assistant.example/oauth/client.json',
  })
  clock.daysAgo(300)
  const diary = await registered(server, {
    name: 'Travel Diary',
    description: 'Turns the notes of a journey into a diary with maps.',
    website: 'https://travel-diary.example/',
    userId: grace.id,
    redirectUris: ['https://travel-diary.example/signed-in'],
    defaultScopes: ['notes:read'],
  })
  clock.daysAgo(90)
  const digest = await registered(server, {
    name: 'Weekly Digest',
    description:
      'Every Sunday, the notes of your week in one e-mail.\nYou can stop it at any time.',
    website: 'https://weekly-digest.example/',
    userId: newcomer.id,
    redirectUris: ['https://weekly-digest.example/oauth/callback'],
    optionalScopes: ['notes:write', 'user:email'],
  })
  clock.daysAgo(12)
  await registered(server, {
    name: 'Notes on the phone',
    userId: viewer.id,
    isConfidential: false,
    redirectUris: ['http://127.0.0.1/callback'],
  })
  const bait = await registered(server, {
    name: 'Free Money',
    website: 'https://free-money.example/',
    userId: grace.id,
    redirectUris: ['https://free-money.example/cb'],
  })

  clock.daysAgo(21)
  const atHome = await authorize(server, viewer.id, onLinux, diary, ['notes:read', 'user:email'])
  clock.daysAgo(6)
  const onTheWay = await authorize(server, viewer.id, onPhone, diary, ['notes:read'])
  await authorize(server, grace.id, onWindows, print, ['notes:read'])
  await authorize(server, newcomer.id, onWindows, print, ['notes:read'])
  clock.daysAgo(3)
  const proofs = await authorize(server, viewer.id, onLinux, print, ['notes:read'])
  await useTokens(server, clock, { 0.1: onTheWay, 2: proofs, 4: atHome }, onPhone.address)

  const tokens = await personalTokens(server, clock, viewer.id)
  await sessions(server, clock, viewer.id)
  await administer(server, clock, { viewer, diary, print, bait, graceId: grace.id })
  clock.daysAgo(0)
  const everything = { ...digest, scope: 'notes:read notes:write user:email' }
  return {
    viewer,
    newcomer,
    collector,
    clientId: print.clientId,
    ...tokens,
    deviceTokenId: await tokenIdOf(server, viewer, diary),
    asking: everything,
    larger: { ...diary, scope: 'notes:read notes:write user:email account:delete' },
    unchecked,
    leaked: onTheWay,
    search: 'grace',
  }
}

/** Uses each token on a day in the past. The keys of `tokens` are numbers of days before the screenshots. */
const useTokens = async (
  server: AuthorizationServer,
  clock: SampleClock,
  tokens: Readonly<Record<number, string>>,
  remoteAddress: string,
): Promise<void> => {
  for (const [days, token] of Object.entries(tokens)) {
    clock.daysAgo(Number(days))
    const headers = { authorization: `Bearer ${token}` }
    await server.fetch(new Request(`${server.issuer}/oauth/ping`, { headers }), { remoteAddress })
  }
}

const personalTokens = async (
  server: AuthorizationServer,
  clock: SampleClock,
  userId: UserId,
): Promise<{ readonly tokenId: number; readonly expiredTokenId: number }> => {
  const day = 86_400
  const both = ['notes:read', 'notes:write']
  clock.daysAgo(210)
  const workshop = await server.tokens.createPersonal('Workshop', userId, { expiresIn: 14 * day })
  clock.daysAgo(95)
  const backup = await server.tokens.createPersonal('Nightly backup', userId, {
    scopes: ['notes:read'],
  })
  clock.daysAgo(8)
  const shell = await server.tokens.createPersonal('Shell on the laptop', userId, {
    scopes: both,
    expiresIn: 90 * day,
  })
  await useTokens(server, clock, { 1.3: shell.accessToken }, onLinux.address)
  await useTokens(server, clock, { 0.3: backup.accessToken }, '198.51.100.200')
  return { tokenId: backup.id, expiredTokenId: workshop.id }
}

// Ends the sessions in which users authorized applications, so that the list of sessions is realistic.
const sessions = async (
  server: AuthorizationServer,
  clock: SampleClock,
  userId: UserId,
): Promise<void> => {
  const { items } = await server.sessions.listByUser(userId, { after: null, limit: 25 })
  for (const { id } of items) await server.sessions.endOne(userId, id)
  clock.daysAgo(9)
  const phone = await beginSession(server, userId, onPhone)
  clock.daysAgo(2)
  await beginSession(server, userId, onWindows)
  clock.daysAgo(0.2)
  await server.sessions.signedIn({
    cookie: `${phone.name}=${phone.value}`,
    ...onPhone,
    raw: undefined,
  })
}

const administer = async (
  server: AuthorizationServer,
  clock: SampleClock,
  {
    viewer,
    diary,
    print,
    bait,
    graceId,
  }: {
    readonly viewer: { readonly id: UserId; readonly email: string }
    readonly diary: { readonly clientId: string }
    readonly print: { readonly clientId: string }
    readonly bait: { readonly clientId: string }
    readonly graceId: UserId
  },
): Promise<void> => {
  const { administration, tokens } = server
  const actor = { user: viewer, address: onLinux.address }
  clock.daysAgo(200)
  await administration.actOnClient(print.clientId, 'verify', actor)
  await administration.actOnClient(diary.clientId, 'verify', actor)
  clock.daysAgo(5)
  await administration.actOnClient(bait.clientId, 'disable', actor)
  const leaked = await tokens.createPersonal('Pasted into a chat', graceId)
  await administration.deleteToken(leaked.id, actor)
}
