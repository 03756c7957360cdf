import { type AiClient, aiClients } from './ai-clients.ts'
import { methodsOf } from './application.ts'
import { type Examination, endpointOf } from './examination.ts'
import { type Finding, fail, ok } from './finding.ts'

/**
 * Checks for each published AI client whether the client could log in. If the client has no metadata document, or the
 * server does not support metadata documents, registers the client. Afterwards, deletes the registration if the server
 * supports this deletion.
 */
export const aiClientChecks = async (examination: Examination): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  for (const client of aiClients) {
    const check = `ai-client-${client.name.toLowerCase().replaceAll(' ', '-')}`
    const problem = await problemOf(client, examination)
    findings.push(
      problem === undefined ? ok(check) : fail(check, `${client.name} cannot log in: ${problem}`),
    )
  }
  return findings
}

const problemOf = async (
  client: AiClient,
  examination: Examination,
): Promise<string | undefined> => {
  const { metadata } = examination
  const methods: readonly string[] = methodsOf(examination)
  if (!client.methods.some((method) => methods.includes(method)))
    return `the server offers none of the authentication methods ${client.methods.join(', ')}.`
  const challenges = metadata.code_challenge_methods_supported
  if (!Array.isArray(challenges) || !challenges.includes('S256'))
    return 'the server does not offer PKCE with S256.'
  const hasDocument =
    client.document !== undefined && metadata.client_id_metadata_document_supported === true
  return hasDocument ? undefined : registrationProblem(client, examination)
}

const advice =
  'Turn on clientIdMetadataDocuments and dynamicRegistration, or register the client by hand.'

const registrationProblem = async (
  { document, metadata, redirectUri }: AiClient,
  examination: Examination,
): Promise<string | undefined> => {
  const address = endpointOf(examination, 'registration_endpoint')
  if (address === undefined)
    return document === undefined
      ? `the client has no metadata document, and the server has no registration endpoint. ${advice}`
      : `the server supports neither metadata documents nor registration requests. ${advice}`
  const { status, json } = await examination.ask(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  })
  if (status === 401) return `the registration requires an initial access token. ${advice}`
  if (status !== 201)
    return `the response to the registration request is ${status} ${json?.error ?? ''}: ${json?.error_description ?? ''}`
  await unregister(json ?? {}, examination)
  return isAccepted(json?.redirect_uris, redirectUri)
    ? undefined
    : `the server registered the client without the redirect URI ${redirectUri}.`
}

// RFC 7592 §2.3
const unregister = async (
  information: Readonly<Record<string, unknown>>,
  { ask, issuer }: Examination,
): Promise<void> => {
  const { registration_client_uri: uri, registration_access_token: token } = information
  if (typeof uri !== 'string' || typeof token !== 'string' || !URL.canParse(uri)) return
  const { pathname } = new URL(uri)
  await ask(`${new URL(issuer).origin}${pathname}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })
}

// The port of a loopback URI may differ (RFC 8252 §7.3).
const isAccepted = (registered: unknown, redirectUri: string): boolean =>
  Array.isArray(registered) &&
  registered.some((uri) => withoutPort(String(uri)) === withoutPort(redirectUri))

const withoutPort = (uri: string): string =>
  uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1)):\d+/, '$1')
