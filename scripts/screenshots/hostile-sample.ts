import type { PersonalTokenOptions } from 'svc-oauth2server'
import { authorize } from './authorization.ts'
import type { Device } from './browser-session.ts'
import { createCollector } from './collector.ts'
import { type FillSample, registered, tokenIdOf, uncheckedClients } from './sample.ts'

const password = 'correct horse battery staple'
const device: Device = {
  address: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  userAgent: 'x'.repeat(500),
}

const wide = 'W'.repeat(40)
const markup = '<script>alert(1)</script><b>"\'&amp;'
const mixed = 'Раypаl العربية اسم طويل'
const address = `https://${'a-long-host.'.repeat(8)}example/${'and-a-long-path/'.repeat(40)}`

type TextOption<Options> = {
  [Name in keyof Options]-?: NonNullable<Options[Name]> extends string ? Name : never
}[keyof Options]

/**
 * A long text for each text option of a personal token. A new option causes a type error until this record contains it.
 */
const tokenTexts: Readonly<Record<TextOption<PersonalTokenOptions>, string>> = {}

/** Fills the database with texts that reveal missing escaping, and layouts that only suit short texts. */
export const fillWithHostility: FillSample = async (server, clock) => {
  const collector = await createCollector(server, clock)
  clock.daysAgo(20)
  const [viewer, newcomer] = await Promise.all(
    ['viewer', 'newcomer'].map((name) =>
      server.users.create({
        email: `${`${name}-${'mallory'.repeat(8)}`.slice(0, 60)}@${'mail.'.repeat(30)}example.org`,
        password,
        isAdmin: name === 'viewer',
      }),
    ),
  )
  if (!viewer || !newcomer) throw new Error('There are no users.')
  const common = {
    description: `${'Donaudampfschifffahrtsgesellschaft'.repeat(6)}\n${markup}\n`.repeat(12),
    website: address,
    userId: viewer.id,
    redirectUris: [address, `${address}2`, 'http://127.0.0.1/callback'] as const,
    defaultScopes: ['notes:read', 'notes:write'],
    optionalScopes: ['notes:write', 'user:email'],
  }
  const own = await registered(server, {
    ...common,
    name: wide,
    redirectUris: [...common.redirectUris],
  })
  for (const name of [markup.slice(0, 40), mixed]) {
    const client = await registered(server, {
      ...common,
      name,
      redirectUris: [...common.redirectUris],
    })
    await authorize(server, viewer.id, device, client, ['notes:read', 'notes:write', 'user:email'])
  }
  await authorize(server, viewer.id, device, own, ['notes:read', 'notes:write', 'user:email'])
  const asking = await registered(server, {
    ...common,
    name: mixed,
    redirectUris: [...common.redirectUris],
  })
  const scopes = ['notes:read', 'notes:write', 'user:email']
  const expired = await server.tokens.createPersonal(markup.slice(0, 40), viewer.id, {
    ...tokenTexts,
    scopes,
    expiresIn: 60,
  })
  const token = await server.tokens.createPersonal(wide, viewer.id, { ...tokenTexts, scopes })
  const { accessToken: leaked } = await server.tokens.createPersonal(wide, viewer.id, { scopes })
  const actor = { user: viewer, address: device.address }
  await server.administration.actOnClient(own.clientId, 'verify', actor)
  clock.daysAgo(0)
  return {
    viewer,
    newcomer,
    collector,
    clientId: own.clientId,
    tokenId: token.id,
    expiredTokenId: expired.id,
    deviceTokenId: await tokenIdOf(server, viewer, own),
    asking: { ...asking, scope: scopes.join(' ') },
    larger: { ...own, scope: [...scopes, 'account:delete'].join(' ') },
    unchecked: await uncheckedClients(server, { name: wide, address, document: address }),
    leaked,
    search: wide,
  }
}
