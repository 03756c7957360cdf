// RFC 7591 and RFC 7592: OAuth 2.0 Dynamic Client Registration and its management
import { constantTimeEqual, digestOf } from '../../crypto/digest.ts'
import { bits256, randomString } from '../../crypto/random.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Client } from '../../model/client.ts'
import {
  asMetadataError,
  type ClientMetadata,
  clientMetadataOf,
  type DescribedClient,
  describedClient,
  type MetadataRules,
  parseClientMetadata,
} from '../../model/client-metadata.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { AuthenticationRequired, OAuthError } from '../../model/oauth-error.ts'
import type { RegistrationRequest } from '../../model/register-client.ts'
import { strictJson } from '../../model/strict-json.ts'
import { jsonAnswer } from '../endpoints/responses/answers.ts'
import { supportedGrantTypes, supportedResponseTypes } from '../endpoints/token/supported.ts'
import type { Endpoint, Extension } from '../plug-ins.ts'
import type { Configuration, Identity, ServerContext, Throttling } from '../server-context.ts'

/** The maximum number of unused registered clients. */
const maxUnused = 10_000
/**
 * The number of clients that are deleted together, and of registrations between two counts, because counting is slow.
 */
const deletedAtOnce = 20
/** The number of registrations of each server in this process. */
const registrations = new WeakMap<ServerContext, number>()

/** Grant types without the consent of a user, which a client cannot enable for itself. */
const vouchedGrantTypes = ['client_credentials', 'password']

const refused = (sentence: string): OAuthError =>
  new OAuthError('invalid_client_metadata', sentence)

/** The client registration endpoint. RFC 7591 §3. */
const registration: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/register`,
  methods: ['POST'],
  errors: 'json',
  advertisedAs: 'registration_endpoint',
  cors: true,
  async handle(http, server) {
    const initialAccessToken = await unlessGuessed(http, server, async () =>
      checkedInitialToken(http, server),
    )
    const { address, headers } = http
    server.limits.check('registrationsOfNetwork', address)
    await server.limits.consume('registrations', address)
    const facts = { address, headers, initialAccessToken, client: undefined }
    // The operator who issued the initial access token trusts its holder.
    const vouched = initialAccessToken === undefined ? [] : vouchedGrantTypes
    const metadata = parseClientMetadata(await objectIn(http))
    const described = await judged(metadata, facts, vouched, server)
    await server.limits.consume('registrationsOfNetwork', address)
    await makeRoom(server)
    const registrationToken = randomString(bits256, server.random)
    const { client, clientSecret } = await server.clients
      .create(described.input, {
        origin: 'registration',
        registrationToken: digestOf('registration_token', registrationToken),
        metadata: described.metadata,
      })
      .catch((error: unknown) => {
        throw asMetadataError(error)
      })
    const secrets = {
      registrationToken,
      clientSecret: hasSecret(client) ? clientSecret : undefined,
    }
    return jsonAnswer(information(client, secrets, server), 201)
  },
}

/** The client configuration endpoint: reads, changes or deletes a registration. RFC 7592 §2. */
const configuration: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/register/:client_id`,
  methods: ['GET', 'PUT', 'DELETE'],
  errors: 'json',
  cors: true,
  async handle(http, server) {
    const { client, registrationToken } = await unlessGuessed(http, server, () =>
      managed(http, server),
    )
    if (http.method === 'DELETE') {
      if (!(await server.clients.delete(client.clientId))) throw notTheirs(server)
      return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
    }
    if (http.method !== 'PUT') return jsonAnswer(information(client, { registrationToken }, server))
    await server.limits.consume('registrations', http.address)
    const changed = await change(http, client, server)
    return jsonAnswer(information(changed.client, { ...changed, registrationToken }, server))
  },
}

/** Lets clients register themselves and manage their registration. */
export const dynamicClientRegistration: Extension = {
  name: 'dynamic-client-registration',
  isOn: ({ dynamicRegistration }) => dynamicRegistration !== 'off',
  endpoints: [registration, configuration],
}

const bearerIn = ({ headers }: HttpRequest): string | undefined =>
  /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(headers.get('authorization') ?? '')?.[1]

const nothingPresented = ({ issuer }: Identity): AuthenticationRequired =>
  new AuthenticationRequired(`Bearer realm="${issuer}"`)

/** Counts wrong registration tokens together with other wrong tokens. */
const unlessGuessed = async <T>(
  { address }: HttpRequest,
  { limits }: Throttling,
  judge: () => Promise<T>,
): Promise<T> => {
  limits.check('wrongTokens', address)
  return judge().catch(async (error: unknown) => {
    if (error instanceof OAuthError && error.code === 'invalid_token')
      await limits.countFailure('wrongTokens', address)
    throw error
  })
}

// Give the same answer in all cases, so that guessing does not reveal which clients exist (RFC 7592 §2.1).
const notTheirs = ({ issuer }: Identity): OAuthError =>
  new OAuthError('invalid_token', 'The token is not valid.', {
    headers: { 'www-authenticate': `Bearer realm="${issuer}", error="invalid_token"` },
  })

/** Returns the initial access token, if one is required. Without the setting, the host's hook verifies it. */
const checkedInitialToken = (http: HttpRequest, server: ServerContext): string | undefined => {
  const { dynamicRegistration, initialAccessToken } = server.settings
  if (dynamicRegistration !== 'token') return undefined
  const presented = bearerIn(http)
  if (presented === undefined) throw nothingPresented(server)
  if (initialAccessToken !== null && !constantTimeEqual(presented, initialAccessToken))
    throw notTheirs(server)
  return presented
}

const objectIn = async (http: HttpRequest): Promise<Readonly<Record<string, unknown>>> => {
  const text = await http.jsonText()
  try {
    const value = strictJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch (error) {
    if (error instanceof SyntaxError) throw refused(error.message)
    throw error
  }
  throw refused('The client metadata must be a JSON object.')
}

/** Returns the client that the metadata describes, after the decision of the host's hook. */
const judged = async (
  metadata: ClientMetadata,
  facts: RegistrationRequest,
  vouched: readonly string[],
  server: ServerContext,
): Promise<DescribedClient> => {
  const said = (await server.hostHooks.registerClient?.(metadata, facts)) ?? true
  if (said === false) {
    const wasToken = facts.initialAccessToken !== undefined
    if (wasToken && server.settings.initialAccessToken === null) throw notTheirs(server)
    throw refused('This client is not accepted here.')
  }
  if (said === true) return describedClient(metadata, rulesFor(metadata, vouched, server))
  const settled = parseClientMetadata({ ...metadata, ...said })
  const given = [...vouched, ...(said.grant_types ?? [])]
  return describedClient(settled, rulesFor(settled, given, server))
}

const rulesFor = (
  { redirect_uris: [first = ''] = [] }: ClientMetadata,
  vouched: readonly string[],
  server: ServerContext,
): MetadataRules => {
  const implicit = supportedResponseTypes(server).includes('token') ? ['implicit'] : []
  const host = /^https:/i.test(first) && URL.canParse(first) ? new URL(first).host : ''
  return {
    grantTypes: [...supportedGrantTypes(server), ...implicit].filter(
      (type) => !vouchedGrantTypes.includes(type) || vouched.includes(type),
    ),
    authMethods: server.clientAuthentication.map(({ name }) => name),
    scopes: server.scopes.requestable(),
    defaultName: host || 'Unnamed',
  }
}

/** Deletes the oldest unused registrations if there are too many, so that a flood does not exclude other clients. */
const makeRoom = async (server: ServerContext): Promise<void> => {
  const { store, log, clock } = server
  const before = registrations.get(server) ?? 0
  registrations.set(server, before + 1)
  if (before % deletedAtOnce !== 0) return
  if ((await store.clients.countUnused(maxUnused)) < maxUnused) return
  const deleted = await store.clients.deleteUnused(clock() + 1, deletedAtOnce)
  log({
    level: 'warn',
    event: 'registration.full',
    message: `${maxUnused} clients registered themselves and were never used; the oldest are deleted.`,
    deleted,
  })
}

/** The client whose registration the presented token manages. */
const managed = async (
  http: HttpRequest,
  server: ServerContext,
): Promise<{ readonly client: Client; readonly registrationToken: string }> => {
  const registrationToken = bearerIn(http)
  if (registrationToken === undefined) throw nothingPresented(server)
  const client = await server.clients.find(http.param('client_id'))
  const presented = digestOf('registration_token', registrationToken)
  // Compare even for an unknown client, so that the response time is the same.
  const isTheirs = constantTimeEqual(presented, client?.registrationToken ?? 'nobody')
  if (!client || !isTheirs || client.origin !== 'registration') throw notTheirs(server)
  if (client.isDisabled)
    throw new OAuthError('access_denied', 'An administrator has disabled this client.')
  return { client, registrationToken }
}

/** Replaces all metadata of a registration; omitted members are removed. RFC 7592 §2.2. */
const change = async (
  http: HttpRequest,
  before: Client,
  server: ServerContext,
): Promise<{ readonly client: Client; readonly clientSecret?: string }> => {
  const { clientId } = before
  const given = await objectIn(http)
  if (given.client_id !== clientId) throw refused('client_id must be that of this client.')
  const { client_secret: secret } = given
  const isSecret = typeof secret === 'string' && before.checkSecret(secret, server.clock())
  if (secret !== undefined && secret !== null && !isSecret)
    throw refused('client_secret must be the present one: it cannot be chosen.')
  const { address, headers } = http
  const facts = { address, headers, initialAccessToken: undefined, client: before }
  // The client may keep such grant types but not add any.
  const vouched = vouchedGrantTypes.filter((type) => before.grantTypes?.includes(type))
  const described = await judged(parseClientMetadata(given), facts, vouched, server)
  try {
    // A client that becomes able to use a secret gets a new one; other clients keep their secret.
    const isToldNow = hasSecret(described.input) && !hasSecret(before)
    const { metadata } = described
    if (isToldNow)
      return await server.clients.updateWithSecret(clientId, described.input, { metadata })
    return { client: await server.clients.update(clientId, described.input, { metadata }) }
  } catch (error) {
    // Deleted meanwhile.
    if (error instanceof InvalidField && error.field === 'client_id') throw notTheirs(server)
    throw asMetadataError(error)
  }
}

// Other clients have a random secret that was never disclosed.
const hasSecret = ({
  isConfidential,
  tokenEndpointAuthMethod,
}: Pick<Client, 'isConfidential' | 'tokenEndpointAuthMethod'>): boolean =>
  isConfidential && tokenEndpointAuthMethod !== 'private_key_jwt'

/** Returns the client information response. RFC 7591 §3.2.1, RFC 7592 §3. It contains a secret only once. */
const information = (
  client: Client,
  secrets: { readonly registrationToken: string; readonly clientSecret?: string | undefined },
  { issuer, settings }: Identity & Configuration,
): object => ({
  client_id: client.clientId,
  client_secret: secrets.clientSecret,
  client_id_issued_at: Math.floor(client.createdAt / 1000),
  client_secret_expires_at: hasSecret(client) ? 0 : undefined,
  registration_access_token: secrets.registrationToken,
  registration_client_uri: `${issuer}${settings.oauthPrefix}/register/${encodeURIComponent(client.clientId)}`,
  ...clientMetadataOf(client),
})
