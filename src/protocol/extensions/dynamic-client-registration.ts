// RFC 7591 and RFC 7592: OAuth 2.0 Dynamic Client Registration and its management
import { z } from 'zod'
import { constantTimeEqual, digestOf } from '../../crypto/digest.ts'
import { bits256, randomString } from '../../crypto/random.ts'
import type { HttpRequest } from '../../http/request.ts'
import { type Client, usesSecret } from '../../model/client.ts'
import {
  asMetadataError,
  type ClientMetadata,
  clientMetadataOf,
  type DescribedClient,
  describedClient,
  type MetadataRules,
  parseClientMetadata,
  withoutForeignScopes,
} from '../../model/client-metadata.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { AuthenticationRequired, OAuthError } from '../../model/oauth-error.ts'
import type { RegistrationRequest } from '../../model/register-client.ts'
import { needImplicit } from '../../model/response-type.ts'
import { strictJson } from '../../model/strict-json.ts'
import { component, count, text } from '../../pages/shapes/shape.ts'
import { jsonResponse } from '../endpoints/responses/responses.ts'
import {
  grantTypesOfClients,
  grantTypesWithoutConsent,
  supportedGrantTypes,
  supportedResponseTypes,
} from '../endpoints/token/supported.ts'
import { otherError } from '../openapi/operations.ts'
import { challenge, namedResponse, responseOf } from '../openapi/responses.ts'
import { named, type Part } from '../openapi/schema.ts'
import { checkedOpenIdMetadata } from '../openid/registration.ts'
import type { Endpoint, Extension } from '../plug-ins.ts'
import type { Configuration, Identity, ServerContext, Throttling } from '../server-context.ts'

/** The maximum number of unused registered clients. */
const maxUnused = 10_000
/**
 * Counting the unused clients is slow, so the server counts them once per this number of registrations. If too many
 * exist, the server deletes the same number of clients.
 */
const batchSize = 20
/** The number of registrations of each server in this process. */
const registrations = new WeakMap<ServerContext, number>()

/** Members of the response that a client must not send back. RFC 7592 §2.2. */
const ownMembers = [
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
]

const refused = (sentence: string): OAuthError =>
  new OAuthError('invalid_client_metadata', sentence)

const metadataBody: Part = {
  required: true,
  content: { 'application/json': { schema: { type: 'object' } } },
}

const registered = (): Part =>
  responseOf(
    'The registered client.',
    component(
      'RegisteredClient',
      z
        .looseObject({
          client_id: text,
          client_id_issued_at: count,
          registration_access_token: text,
          registration_client_uri: text,
          client_secret: text.optional(),
          client_secret_expires_at: count.optional(),
        })
        .describe('RFC 7591 §3.2.1, with the registered metadata.'),
    ),
  )

const refusals = {
  400: responseOf('A parameter is missing or not valid.', named('Problem')),
  401: responseOf('The token is missing or not valid.', { type: 'object' }, challenge),
  413: namedResponse('TooLarge'),
  503: namedResponse('Unavailable'),
  default: otherError,
}

/** The client registration endpoint. RFC 7591 §3. */
const registration: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/register`,
  methods: ['POST'],
  errors: 'json',
  advertisedAs: 'registration_endpoint',
  cors: true,
  async handle(http, server) {
    const initialAccessToken = await limitGuesses(http, server, async () =>
      checkedInitialToken(http, server),
    )
    const { address, headers } = http
    server.limits.check('registrationsOfNetwork', address)
    await server.limits.consume('registrations', address)
    const facts = { address, headers, initialAccessToken, client: undefined }
    // The operator trusts the holder of an initial access token, so allow grants that work without consent.
    const vouched = initialAccessToken === undefined ? [] : grantTypesWithoutConsent(server)
    const parsed = parseClientMetadata(await objectIn(http))
    const metadata = await checkedOpenIdMetadata(parsed, http, server)
    const described = await applyHook(metadata, facts, vouched, server)
    await server.limits.consume('registrationsOfNetwork', address)
    await deleteExcessClients(server)
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
    const secrets = { registrationToken, clientSecret }
    return jsonResponse(information(client, secrets, server), 201)
  },
  describe({ settings }) {
    const needsToken = settings.dynamicRegistration === 'token'
    const { 401: unauthorized, ...others } = refusals
    return {
      post: {
        operationId: 'register',
        summary: 'Registers a client (RFC 7591)',
        tags: ['protocol'],
        security: needsToken ? [{ registrationToken: [] }] : [],
        requestBody: metadataBody,
        responses: { 201: registered(), ...others, ...(needsToken && { 401: unauthorized }) },
      },
    }
  },
}

/** The client configuration endpoint, which returns, changes or deletes a registration. RFC 7592 §2. */
const configuration: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/register/:client_id`,
  methods: ['GET', 'PUT', 'DELETE'],
  errors: 'json',
  cors: true,
  async handle(http, server) {
    const { client, registrationToken } = await limitGuesses(http, server, () =>
      managed(http, server),
    )
    if (http.method === 'DELETE') {
      if (!(await server.clients.delete(client.clientId))) throw invalidToken(server)
      return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
    }
    if (http.method !== 'PUT')
      return jsonResponse(information(client, { registrationToken }, server))
    await server.limits.consume('registrations', http.address)
    const changed = await change(http, client, server)
    return jsonResponse(information(changed.client, { ...changed, registrationToken }, server))
  },
  describe() {
    const { 400: _, 413: __, ...withoutBody } = refusals
    const common = { tags: ['protocol'], security: [{ registrationToken: [] }] }
    return {
      get: {
        ...common,
        operationId: 'getRegistration',
        summary: 'Returns the registration of a client (RFC 7592)',
        responses: { 200: registered(), ...withoutBody },
      },
      put: {
        ...common,
        operationId: 'replaceRegistration',
        summary: 'Replaces the registration of a client (RFC 7592)',
        requestBody: metadataBody,
        responses: { 200: registered(), ...refusals },
      },
      delete: {
        ...common,
        operationId: 'deleteRegistration',
        summary: 'Deletes a client that registered itself (RFC 7592)',
        responses: { 204: { description: 'The client is deleted.' }, ...withoutBody },
      },
    }
  },
}

/** Lets clients register themselves and manage their registration. */
export const dynamicClientRegistration: Extension = {
  name: 'dynamic-client-registration',
  isOn: ({ dynamicRegistration }) => dynamicRegistration !== 'off',
  endpoints: [registration, configuration],
}

const bearerIn = (http: HttpRequest): string | undefined =>
  /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(http.header('authorization') ?? '')?.[1]

const nothingPresented = ({ issuer }: Identity): AuthenticationRequired =>
  new AuthenticationRequired(`Bearer realm="${issuer}"`)

/** Runs `verify`, and counts the error `invalid_token` as a failure in the limit `wrongTokens`. */
const limitGuesses = async <T>(
  { address }: HttpRequest,
  { limits }: Throttling,
  verify: () => Promise<T>,
): Promise<T> => {
  limits.check('wrongTokens', address)
  return verify().catch(async (error: unknown) => {
    if (error instanceof OAuthError && error.code === 'invalid_token')
      await limits.countFailure('wrongTokens', address)
    throw error
  })
}

// Return the same error for unknown clients and wrong tokens, to hide which clients exist (RFC 7592 §2.1).
const invalidToken = ({ issuer }: Identity): OAuthError =>
  new OAuthError('invalid_token', 'The token is not valid.', {
    headers: { 'www-authenticate': `Bearer realm="${issuer}", error="invalid_token"` },
  })

/**
 * Returns the initial access token of the request, or undefined if the settings do not require a token. If the setting
 * `initialAccessToken` is null, the host's hook must verify the token.
 */
const checkedInitialToken = (http: HttpRequest, server: ServerContext): string | undefined => {
  const { dynamicRegistration, initialAccessToken } = server.settings
  if (dynamicRegistration !== 'token') return undefined
  const presented = bearerIn(http)
  if (presented === undefined) throw nothingPresented(server)
  if (initialAccessToken !== null && !constantTimeEqual(presented, initialAccessToken))
    throw invalidToken(server)
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

/**
 * Calls the host's hook `registerClient`, and returns the client that the metadata describes.
 * @throws OAuthError if the hook refuses the client or the metadata is not valid
 */
const applyHook = async (
  sent: ClientMetadata,
  facts: RegistrationRequest,
  vouched: readonly string[],
  server: ServerContext,
): Promise<DescribedClient> => {
  const metadata = withoutForeignScopes(sent, server.scopes.requestable())
  const decision = (await server.hostHooks.registerClient?.(metadata, facts)) ?? true
  if (decision === false) {
    const wasToken = facts.initialAccessToken !== undefined
    if (wasToken && server.settings.initialAccessToken === null) throw invalidToken(server)
    throw refused('This client is not accepted here.')
  }
  if (decision === true) return describedClient(metadata, rulesFor(metadata, vouched, server))
  const amended = parseClientMetadata({ ...metadata, ...decision })
  const given = [...vouched, ...(decision.grant_types ?? [])]
  return describedClient(amended, rulesFor(amended, given, server))
}

const rulesFor = (
  { redirect_uris: [first = ''] = [] }: ClientMetadata,
  vouched: readonly string[],
  server: ServerContext,
): MetadataRules => {
  const withoutConsent = grantTypesWithoutConsent(server)
  const responseTypes = supportedResponseTypes(server)
  const implicit = needImplicit(responseTypes) ? ['implicit'] : []
  const host = /^https:/i.test(first) && URL.canParse(first) ? new URL(first).host : ''
  return {
    grantTypes: [...supportedGrantTypes(server), ...implicit].filter(
      (type) => !withoutConsent.includes(type) || vouched.includes(type),
    ),
    responseTypes,
    grantTypesWithoutConsent: withoutConsent,
    grantTypesOfClients: grantTypesOfClients(server),
    authMethods: server.clientAuthentication.map(({ name }) => name),
    scopes: server.scopes.requestable(),
    defaultName: host || 'Unnamed',
    privateUse: server.settings.allowPrivateUseRedirectUris,
  }
}

/** Deletes the oldest unused clients if too many exist, so that a flood of registrations cannot fill the table. */
const deleteExcessClients = async (server: ServerContext): Promise<void> => {
  const { store, log, clock } = server
  const earlier = registrations.get(server) ?? 0
  registrations.set(server, earlier + 1)
  if (earlier % batchSize !== 0) return
  const unused = { before: clock() + 1, inUse: grantTypesOfClients(server) }
  if ((await store.clients.countExpired(unused, maxUnused)) < maxUnused) return
  const deleted = await store.clients.deleteExpired(unused, batchSize)
  log({
    level: 'warn',
    event: 'registration.full',
    message: `${maxUnused} clients that registered themselves have no tokens. The oldest of these clients are deleted.`,
    deleted,
  })
}

/**
 * Returns the client and the valid registration token of a request.
 * @throws AuthenticationRequired without a token, OAuthError for a wrong token or a disabled client
 */
const managed = async (
  http: HttpRequest,
  server: ServerContext,
): Promise<{ readonly client: Client; readonly registrationToken: string }> => {
  const registrationToken = bearerIn(http)
  if (registrationToken === undefined) throw nothingPresented(server)
  const client = await server.clients.find(http.param('client_id'))
  const presented = digestOf('registration_token', registrationToken)
  // Compare even for an unknown client, so that the response time is the same.
  const isValid = constantTimeEqual(presented, client?.registrationToken ?? 'nobody')
  if (!client || !isValid || client.origin !== 'registration') throw invalidToken(server)
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
  if (given.client_id !== clientId) throw refused('client_id must be the ID of this client.')
  const sent = ownMembers.find((name) => (given[name] ?? null) !== null)
  if (sent !== undefined)
    throw refused(`${sent} must not be sent: it is set by the server and cannot be changed.`)
  const { client_secret: secret } = given
  const isSecret = typeof secret === 'string' && before.checkSecret(secret, server.clock())
  if (secret !== undefined && secret !== null && !isSecret)
    throw refused('client_secret must be the current secret: a client cannot choose its secret.')
  const { address, headers } = http
  const facts = { address, headers, initialAccessToken: undefined, client: before }
  // The client may retain its grant types that work without consent, but may not add others.
  const vouched = grantTypesWithoutConsent(server).filter((type) =>
    before.grantTypes?.includes(type),
  )
  const metadata = await checkedOpenIdMetadata(parseClientMetadata(given), http, server)
  const described = await applyHook(metadata, facts, vouched, server)
  try {
    // Create a secret only if the client now authenticates by a secret and does not know one yet.
    const needsSecret = usesSecret(described.input) && !usesSecret(before)
    const { metadata } = described
    if (needsSecret)
      return await server.clients.updateWithSecret(clientId, described.input, { metadata })
    return { client: await server.clients.update(clientId, described.input, { metadata }) }
  } catch (error) {
    // The client was deleted concurrently.
    if (error instanceof InvalidField && error.field === 'client_id') throw invalidToken(server)
    throw asMetadataError(error)
  }
}

/**
 * Returns the client information response. RFC 7591 §3.2.1, RFC 7592 §3. A client secret is included only when it is
 * created.
 */
const information = (
  client: Client,
  secrets: { readonly registrationToken: string; readonly clientSecret?: string | undefined },
  { issuer, settings }: Identity & Configuration,
): object => ({
  client_id: client.clientId,
  client_secret: secrets.clientSecret || undefined,
  client_id_issued_at: Math.floor(client.createdAt / 1000),
  client_secret_expires_at: usesSecret(client) ? 0 : undefined,
  registration_access_token: secrets.registrationToken,
  registration_client_uri: `${issuer}${settings.oauthPrefix}/register/${encodeURIComponent(client.clientId)}`,
  ...clientMetadataOf(client),
})
