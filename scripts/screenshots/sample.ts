import type { AuthorizationServer, AuthorizationServerOptions, User } from 'svc-oauth2server'
import { homeEndpoint } from '../../src/protocol/endpoints/operations/home.ts'
import type { Registered } from './authorization.ts'

/** The time of a sample: it stands still, and is moved to tell what happened before. */
export interface SampleClock {
  readonly now: () => number
  /** Goes to so many days before the day of the pictures. */
  daysAgo(days: number): void
}

/** @param today milliseconds since the epoch */
export const sampleClock = (today: number): SampleClock => {
  let now = today
  return {
    now: () => now,
    daysAgo: (days) => {
      now = today - Math.round(days * 86_400_000)
    },
  }
}

/** What a sample needs of the server: sessions and tokens that are found again some days later. */
export const sampleOptions = (clock: SampleClock): Partial<AuthorizationServerOptions> => ({
  clock: clock.now,
  applicationName: 'Notes',
  deviceAuthorization: true,
  // The browser says from where it comes.
  trustedProxies: ['127.0.0.1'],
  sessionIdleExpiresIn: 2_592_000,
  sessionExpiresIn: 31_536_000,
  tokenExpiresIn: 2_592_000,
  sweepInterval: 0,
  // A server that stands alone has this page at `/`, where the notes example has its own.
  extensions: [
    { name: 'start-page', endpoints: [{ ...homeEndpoint, path: () => '/start' }] },
    // Nothing is fetched for a picture: what describes itself elsewhere is as it was kept.
    {
      name: 'kept-documents',
      findClient: (clientId, { clients }) =>
        clientId.startsWith('https://')
          ? clients.find(clientId).then((client) => client ?? null)
          : undefined,
    },
  ],
})

/** What stands in the database of a sample, to lead to every page. */
export interface Sample {
  /** Who looks at the pages: an administrator. */
  readonly viewer: User
  /** Somebody who has nothing yet. */
  readonly newcomer: User
  /** An application of the viewer. */
  readonly clientId: string
  readonly tokenId: number
  readonly expiredTokenId: number
  /** A token of an application that the viewer allowed. */
  readonly deviceTokenId: number
  /** An application that the viewer has not allowed yet, and what it asks for. */
  readonly asking: Registered & { readonly scope: string }
  /** Applications that nobody has checked: one that registered itself, and one that describes itself at its client id. */
  readonly unchecked: Readonly<Record<'registered' | 'described', string>>
  /** What an administrator searches for. */
  readonly search: string
}

/** Fills the database of a server. */
export type FillSample = (server: AuthorizationServer, clock: SampleClock) => Promise<Sample>

/** Registers an application. */
export const registered = async (
  server: AuthorizationServer,
  input: Parameters<AuthorizationServer['clients']['create']>[0] & {
    readonly redirectUris: readonly [string, ...string[]]
  },
): Promise<Registered> => {
  const { client, clientSecret } = await server.clients.create(input)
  return { clientId: client.clientId, clientSecret, redirectUri: input.redirectUris[0] }
}

/** Where a program on the user's own computer waits for the answer. */
export const loopback = 'http://127.0.0.1:8123/callback'

/**
 * Applications that nobody has checked, each for a program on the user's own computer.
 * @param address of the website, the terms and the policy of both
 * @param document what the second has as its client id
 */
export const uncheckedClients = async (
  server: AuthorizationServer,
  { name, address, document }: Readonly<Record<'name' | 'address' | 'document', string>>,
): Promise<Sample['unchecked']> => {
  const input = { name, website: address, isConfidential: false, redirectUris: [loopback] }
  const further = {
    registrationToken: null,
    metadata: JSON.stringify({ tos_uri: `${address}terms`, policy_uri: `${address}privacy` }),
  }
  const { client } = await server.clients.create(input, { origin: 'registration', ...further })
  await server.clients.keep(
    server.clients.described(document, input, { origin: 'metadata_document', ...further }),
  )
  return { registered: client.clientId, described: document }
}

/** The id of the token of an application on the device where a user allowed it last. */
export const tokenIdOf = async (
  server: AuthorizationServer,
  { id }: User,
  { clientId }: Registered,
): Promise<number> => {
  const { items } = await server.authorizedApplications.listByUser(id, { after: null, limit: 25 })
  const device = items.find(({ client }) => client.clientId === clientId)?.devices[0]
  if (!device) throw new Error(`${clientId} was not allowed.`)
  return device.tokenId
}
