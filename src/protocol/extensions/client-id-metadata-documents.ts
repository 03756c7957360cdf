import { clientOfDocument, keepClient } from '../../records/clients/self-described.ts'
import type { Configuration, Environment, ServerContext } from '../server-context.ts'
// draft-ietf-oauth-client-id-metadata-document-02: OAuth Client ID Metadata Document

import { type Fetched, OutboundFailed } from '../../http/outbound/outbound.ts'
import type { Client } from '../../model/client.ts'
import { publicOnly } from '../../model/client-keys.ts'
import {
  asMetadataError,
  type ClientMetadata,
  describedClient,
  parseClientMetadata,
  withoutForeignScopes,
} from '../../model/client-metadata.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { remoteAddressProblem } from '../../model/remote-address.ts'
import type { ClientLookup } from '../client-lookup.ts'
import {
  grantTypesOfClients,
  grantTypesWithoutConsent,
  supportedGrantTypes,
} from '../endpoints/token/supported.ts'
import type { Extension } from '../plug-ins.ts'

/** The accepted documents. 16 KiB is three times the size that §8.7 recommends, because a document may contain keys. */
const document = { accept: ['application/json', 'application/*+json'], largest: 16_384 }
/** Milliseconds for which a stored client remains usable after the last fetch of a valid document. */
const maxStaleness = 86_400_000
/** Milliseconds after which `confirmed_at` in the row of a client is updated, even if the document is unchanged. */
const confirmationInterval = 3_600_000

const authMethods = ['none', 'private_key_jwt'] as const

/** The error for an invalid client ID, or for a client ID with an unavailable or invalid document. */
class Unknown extends Error {
  override readonly name = 'Unknown'
  readonly isOutage: boolean

  constructor(message: string, options: { readonly isOutage?: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause })
    this.isOutage = options.isOutage ?? false
  }
}

/**
 * Finds a client whose ID is a URL. Combines the fetched metadata document with the stored row, which contains the
 * decisions of administrators. For a disabled or pinned client, returns the stored client without a request. Returns
 * null if the stored row was tampered with.
 */
const findClient = async (
  clientId: string,
  server: ServerContext,
  { address = '', forAuthorization = false }: ClientLookup,
): Promise<Client | null> => {
  const problem = idProblem(clientId, server)
  if (problem !== undefined)
    throw refusal(new Unknown(`The client ID is not valid: ${problem}`, {}), forAuthorization)
  const request = {
    url: clientId,
    ...document,
    requester: address,
    purpose: 'metadata document',
  } as const
  const stored = await server.clients.find(clientId)
  if (stored?.isDisabled || stored?.isPinned) return stored
  // A new authorization needs the current document, so check first whether it may be fetched.
  if (forAuthorization) requireFetchAllowed(request, server)
  if (!stored && (await server.store.clients.find(clientId))) return null
  try {
    const client = await server.outbound
      .json({
        ...request,
        read: (found) => described(found, clientId, server, stored),
        beforeSending: () => server.limits.consume('clientDocuments', address),
      })
      .catch((error: unknown) => {
        throw asUnknown(error)
      })
    // Do not store an unknown client before a user consents: otherwise anyone could fill the table with client IDs.
    if (stored && needsUpdate(client, stored, server.clock()))
      await keepClient(client, server.records)
    return client
  } catch (error) {
    const isKnown = error instanceof Unknown || error instanceof OAuthError
    if (isKnown && stored && !forAuthorization && isRecentlyConfirmed(stored, server)) return stored
    throw error instanceof Unknown ? refusal(error, forAuthorization) : error
  }
}

/** Checks that the document is cached or may be fetched. @throws OAuthError if a limit on fetches is reached */
const requireFetchAllowed = (
  request: Fetched & { readonly requester: string; readonly purpose: 'metadata document' },
  { outbound, limits }: ServerContext,
): void => {
  try {
    if (outbound.wouldSend(request)) limits.check('clientDocuments', request.requester)
  } catch (error) {
    const known = asUnknown(error)
    throw known instanceof Unknown ? refusal(known, true) : known
  }
}

// §3. Do not normalize the URL, because client IDs are compared as strings.
const idProblem = (clientId: string, { settings }: Configuration): string | undefined => {
  const problem = remoteAddressProblem(clientId, {
    allowPrivate: settings.dangerouslyAllowPrivateAddresses,
  })
  if (problem !== undefined) return problem
  const [, path] = /^https?:\/\/[^/?]+(\/[^?]*)/.exec(clientId) ?? []
  if (path === undefined) return 'It must have a path.'
  const isDots = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment)
  return path.split('/').some(isDots)
    ? 'Its path must not contain . or .. as a segment.'
    : undefined
}

/**
 * Returns the client that a metadata document describes.
 * @throws OAuthError, InvalidField, ScopeDoesNotExists if the document is not valid
 */
const described = (
  document: unknown,
  clientId: string,
  server: ServerContext,
  stored: Client | undefined,
): Client => {
  const metadata = withoutForeignScopes(
    parseClientMetadata(withoutStatement(document)),
    server.scopes.requestable(),
  )
  checkDocument(document as Readonly<Record<string, unknown>>, clientId)
  if ((metadata.redirect_uris ?? []).length === 0)
    throw new OAuthError('invalid_client_metadata', 'redirect_uris is missing.')
  const { settings, clock, records } = server
  // Anyone can publish a document, so exclude grants that work without the consent of a user.
  const withoutConsent = grantTypesWithoutConsent(server)
  const known = supportedGrantTypes(server).filter((type) => !withoutConsent.includes(type))
  const { input, metadata: further } = describedClient(adapted(metadata, known), {
    grantTypes: known,
    responseTypes: ['code'],
    grantTypesWithoutConsent: withoutConsent,
    grantTypesOfClients: grantTypesOfClients(server),
    authMethods: authMethods.filter((method) => settings.clientAuthentication.includes(method)),
    scopes: server.scopes.requestable(),
    defaultName: new URL(clientId).host,
    privateUse: settings.allowPrivateUseRedirectUris,
  })
  if (metadata.jwks) publicOnly(metadata.jwks)
  const described = {
    ...input,
    ...(input.isConfidential ? {} : { jwks: null, jwksUri: null }),
    website: isSameOrigin(input.website, clientId) ? input.website : '',
  }
  const registration = {
    origin: 'metadata_document',
    registrationToken: null,
    metadata: JSON.stringify({ ...JSON.parse(further), confirmed_at: clock() }),
  } as const
  return clientOfDocument(clientId, { input: described, registration, stored }, records)
}

// This server does not support software statements, so ignore them (§4.3).
const withoutStatement = (document: unknown): unknown =>
  typeof document === 'object' && document !== null && !Array.isArray(document)
    ? { ...document, software_statement: undefined }
    : document

// §4, §4.1
const checkDocument = (document: Readonly<Record<string, unknown>>, clientId: string): void => {
  if (document.client_id !== clientId)
    throw new OAuthError('invalid_client_metadata', 'client_id must be the URL of the document.')
  for (const name of ['client_secret', 'client_secret_expires_at']) {
    if (Object.hasOwn(document, name))
      throw new OAuthError('invalid_client_metadata', `${name} is not allowed in the document.`)
  }
}

// A document is written for many servers. Remove values that this server does not support.
const adapted = (metadata: ClientMetadata, known: readonly string[]): ClientMetadata => ({
  ...metadata,
  token_endpoint_auth_method:
    metadata.token_endpoint_auth_method ??
    metadata.token_endpoint_auth_methods_supported?.[0] ??
    'none',
  grant_types: metadata.grant_types?.filter((type) => known.includes(type)),
  response_types: metadata.response_types?.filter((type) => type === 'code'),
})

// Ignore a website on another origin, because the client could pretend to belong to that website (§8.1).
const isSameOrigin = (website: string, clientId: string): boolean =>
  website !== '' && new URL(website).origin === new URL(clientId).origin

const metadataErrorCodes: readonly string[] = ['invalid_client_metadata', 'invalid_redirect_uri']

const asUnknown = (error: unknown): unknown => {
  if (error instanceof OutboundFailed) {
    const { message, isOutage } = error
    const sentence = `The metadata document of the client could not be fetched: ${message}`
    return new Unknown(sentence, { isOutage, cause: error })
  }
  const known = asMetadataError(error)
  const isAboutDocument = known instanceof OAuthError && metadataErrorCodes.includes(known.code)
  if (!isAboutDocument) return known
  return new Unknown(`The metadata document of the client is not valid: ${known.message}`, {
    cause: known,
  })
}

/** Returns the error for the error page (RFC 6749 §4.1.2.1), or for a client that authenticates (RFC 6749 §5.2). */
const refusal = (error: Unknown, forAuthorization: boolean): OAuthError => {
  const { message, isOutage, cause } = error
  // Replace characters that are not allowed in an `error_description`.
  const sentence = message.replaceAll(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, "'")
  if (forAuthorization) return new OAuthError('invalid_request', sentence, { cause })
  return isOutage
    ? new OAuthError('temporarily_unavailable', sentence, {
        cause,
        headers: { 'retry-after': '5' },
      })
    : new OAuthError('invalid_client', sentence, { cause })
}

interface Confirmed {
  readonly confirmed_at: number
}

const confirmedAt = ({ metadata }: Client): number =>
  (JSON.parse(metadata) as Confirmed).confirmed_at

const isRecentlyConfirmed = (stored: Client, { clock }: Environment): boolean =>
  confirmedAt(stored) + maxStaleness > clock()

// Returns the values that come from the document, as one text. Omits the time of the last fetch.
const documentValues = (client: Client): string =>
  JSON.stringify([
    client.name,
    client.website,
    client.isConfidential,
    client.redirectUris,
    client.allowedScopes,
    client.grantTypes,
    client.responseTypes,
    client.tokenEndpointAuthMethod,
    client.jwks,
    client.jwksUri,
    { ...JSON.parse(client.metadata), confirmed_at: undefined },
  ])

const needsUpdate = (client: Client, stored: Client, now: number): boolean =>
  documentValues(client) !== documentValues(stored) ||
  confirmedAt(stored) + confirmationInterval < now

/** Accepts a URL as a client ID. The URL leads to a document with the client's metadata. */
export const clientIdMetadataDocuments: Extension = {
  name: 'client-id-metadata-documents',
  isOn: (settings) => settings.clientIdMetadataDocuments,
  // §6
  metadata: () => ({ client_id_metadata_document_supported: true }),
  findClient: (clientId, server, lookup) =>
    /^https?:\/\//i.test(clientId) ? findClient(clientId, server, lookup) : undefined,
}
