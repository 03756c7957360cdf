import { requestObjectAlgorithms } from '../../crypto/jose.ts'
import { OutboundFailed } from '../../http/outbound/outbound.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { ClientMetadata } from '../../model/client-metadata.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import {
  checkAddresses,
  checkRequestObjectAlgorithm,
  openidMemberNames,
  requestObjectMembers,
} from '../../model/openid-client-metadata.ts'
import { idTokenAlgorithms } from '../../records/keys/required-algorithms.ts'
import type { ServerContext } from '../server-context.ts'

const maxSectorSize = 65_536

const refused = (sentence: string): OAuthError =>
  new OAuthError('invalid_client_metadata', sentence)

/** Returns the names of the metadata members that the settings do not enable. */
const ignoredMembers = ({
  openidConnect,
  requestObjects,
}: ServerContext['settings']): readonly string[] => {
  const isOfRequestObjects = (name: string) => requestObjectMembers.some((one) => one === name)
  return openidMemberNames.filter((name) =>
    isOfRequestObjects(name) ? !requestObjects : !openidConnect,
  )
}

/**
 * Checks the members of OpenID Connect in the metadata of a client that registers itself (OpenID Connect Registration
 * §2, §5). Ignores the members that the settings do not enable.
 * @throws OAuthError `invalid_client_metadata`
 */
export const checkedOpenIdMetadata = async (
  given: ClientMetadata,
  { address }: HttpRequest,
  server: ServerContext,
): Promise<ClientMetadata> => {
  const { settings } = server
  const ignored = ignoredMembers(settings)
  const metadata: ClientMetadata = Object.fromEntries(
    Object.entries(given).filter(([name]) => !ignored.includes(name)),
  )
  const allowPrivate = settings.dangerouslyAllowPrivateAddresses
  try {
    checkRequestObjectAlgorithm(metadata, {
      requestObjectAlgorithms: requestObjectAlgorithms(settings),
    })
    checkAddresses(metadata, { allowPrivate })
  } catch (error) {
    throw error instanceof InvalidField ? refused(`${error.field}: ${error.message}`) : error
  }
  const offered: readonly string[] = idTokenAlgorithms(settings)
  for (const name of ['id_token_signed_response_alg', 'userinfo_signed_response_alg'] as const) {
    const algorithm = metadata[name]
    if (algorithm !== undefined && !offered.includes(algorithm))
      throw refused(`${name} must be one of ${offered.join(', ')}.`)
  }
  await checkSector(metadata, address, server)
  return metadata
}

const checkSector = async (
  { subject_type, sector_identifier_uri: url, redirect_uris: uris = [] }: ClientMetadata,
  requester: string,
  { outbound, limits }: ServerContext,
): Promise<void> => {
  if (url === undefined) {
    const hosts = new Set(uris.map((uri) => (URL.canParse(uri) ? new URL(uri).host : uri)))
    if (subject_type === 'pairwise' && hosts.size > 1)
      throw refused('subject_type pairwise with several hosts needs sector_identifier_uri.')
    return
  }
  const listed = await outbound
    .json({
      url,
      accept: ['application/json', 'application/*+json'],
      largest: maxSectorSize,
      read: urisIn,
      requester,
      purpose: 'sector',
      beforeSending: () => limits.consume('clientDocuments', requester),
    })
    .catch((error: unknown) => {
      if (!(error instanceof OutboundFailed)) throw error
      throw refused(`sector_identifier_uri could not be used: ${error.message}`)
    })
  if (!uris.every((uri) => listed.includes(uri)))
    throw refused('sector_identifier_uri does not list every redirect URI.')
}

const urisIn = (document: unknown): readonly unknown[] => {
  if (Array.isArray(document)) return document
  throw refused('sector_identifier_uri must refer to a JSON array of redirect URIs.')
}
