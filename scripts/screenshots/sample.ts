import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  emailScope,
  Scope,
  type User,
  type UserLinkPurpose,
} from 'svc-oauth2server'
import { notesRead, notesWrite } from '../../examples/notes/scopes.ts'
import { homeEndpoint } from '../../src/protocol/endpoints/operations/home.ts'
import { keepDescribed } from '../../test/support/internals.ts'
import type { Registered } from './authorization.ts'

/** A stopped clock, which can be set to earlier days to create data of the past. */
export interface SampleClock {
  readonly now: () => number
  /** Sets the clock to a number of days before the day of the screenshots. */
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

const accountDelete = new Scope('account:delete', {
  helpText: 'Delete your account with all notes',
  group: 'User',
  risk: 'high',
  translations: { ar: { helpText: 'حذف حسابك مع كل الملاحظات', group: 'المستخدم' } },
})

/** The scopes that the users of a sample grant. */
export const sampleScopes = ['notes:read', 'notes:write', 'user:email'] as const

/** The latest link that the server sent for each purpose. */
export type Mailbox = Map<UserLinkPurpose, string>

/**
 * Returns the options of the server for the screenshots. Sessions and tokens expire after 30 days or later, so that
 * the sessions and tokens of the last weeks are valid.
 */
export const sampleOptions = (
  clock: SampleClock,
  mailbox: Mailbox,
): Partial<AuthorizationServerOptions> => ({
  clock: clock.now,
  applicationName: 'Notes',
  scopes: [emailScope, notesRead, notesWrite, accountDelete],
  deviceAuthorization: true,
  openidConnect: true,
  resources: [{ resource: 'https://notes.example/reports' }],
  signUp: true,
  sendUserLink: ({ purpose, url }) => void mailbox.set(purpose, url),
  // Trust the header `X-Forwarded-For` of the browser, so that a sample can set the IP address of a device.
  trustedProxies: ['127.0.0.1'],
  sessionIdleExpiresIn: 2_592_000,
  sessionExpiresIn: 31_536_000,
  tokenExpiresIn: 2_592_000,
  sweepInterval: 0,
  // Serve the start page of a standalone server at another path, because the notes example has its own page at `/`.
  extensions: [
    { name: 'start-page', endpoints: [{ ...homeEndpoint, path: () => '/start' }] },
    // Return stored client metadata documents, so that the server sends no requests to other machines.
    {
      name: 'stored-documents',
      findClient: (clientId, { clients }) =>
        clientId.startsWith('https://')
          ? clients.find(clientId).then((client) => client ?? null)
          : undefined,
    },
  ],
})

/** The objects of a sample that the URLs of pages need. */
export interface Sample {
  /** The user who looks at the pages: an administrator. */
  readonly viewer: User
  /** A user without any data. */
  readonly newcomer: User
  /** A user with several pages of tokens and applications. */
  readonly collector: User
  /** An application of the viewer. */
  readonly clientId: string
  readonly tokenId: number
  readonly expiredTokenId: number
  /** A token of an application that the viewer authorized. */
  readonly deviceTokenId: number
  /** An application that the viewer has not authorized yet, with the scopes that it requests. */
  readonly asking: Registered & { readonly scope: string }
  /** An application that the viewer authorized before, with the larger scope that it requests now. */
  readonly larger: Registered & { readonly scope: string }
  /** Unverified applications: one that registered itself, and one with a metadata document. */
  readonly unchecked: Readonly<Record<'registered' | 'described', string>>
  /** The value of a valid token of the viewer. */
  readonly leaked: string
  /** The text that an administrator searches for. */
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

/** The redirect URI of a program on the user's own computer. */
export const loopback = 'http://127.0.0.1:8123/callback'

/**
 * Registers unverified applications with loopback redirect URIs.
 * @param address the URL of the website, the terms and the policy of each application
 * @param document the client ID of the second application
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
  await keepDescribed(server, document, input, { origin: 'metadata_document', ...further })
  await server.clients.mark(document, { isPinned: true })
  return { registered: client.clientId, described: document }
}

/** Returns the ID of the token of an application on the device where the user authorized it last. */
export const tokenIdOf = async (
  server: AuthorizationServer,
  { id }: User,
  { clientId }: Registered,
): Promise<number> => {
  const { items } = await server.authorizedApplications.listByUser(id, { after: null, limit: 25 })
  const device = items.find(({ client }) => client.clientId === clientId)?.devices[0]
  if (!device) throw new Error(`${clientId} is not authorized.`)
  return device.tokenId
}
