import type { Ask, HttpResponse } from './ask.ts'
import { type Finding, fail, ok, unless, warn } from './finding.ts'

/** The metadata of a server. RFC 8414 §2. */
export type Metadata = Readonly<Record<string, unknown>>

const serverPath = '/.well-known/oauth-authorization-server'
const resourcePath = '/.well-known/oauth-protected-resource'

interface Form {
  readonly name: 'inserted' | 'appended' | 'root'
  readonly url: string
}

/** Returns the URLs where clients look for metadata; one URL for an identifier without a path. RFC 8414 §3.1, §5. */
const formsOf = (path: string, identifier: string): readonly Form[] => {
  const { origin, pathname } = new URL(identifier)
  const own = pathname.replace(/\/$/, '')
  const inserted: Form = { name: 'inserted', url: `${origin}${path}${own}` }
  if (own === '') return [inserted]
  return [
    inserted,
    { name: 'appended', url: `${identifier}${path}` },
    { name: 'root', url: `${origin}${path}` },
  ]
}

interface Document {
  /** The name of the check. */
  readonly check: string
  readonly path: string
  /** The name of the member that must equal the identifier. */
  readonly identifiedBy: string
}

const serverMetadata: Document = { check: 'metadata', path: serverPath, identifiedBy: 'issuer' }
const resourceMetadata: Document = {
  check: 'resource-metadata',
  path: resourcePath,
  identifiedBy: 'resource',
}

const problemOf = ({ status, headers, json }: HttpResponse, url: string): string | undefined => {
  if (status !== 200) return `${url} returns ${status}`
  const type = headers.get('content-type') ?? '(none)'
  if (!/^application\/json\b/i.test(type))
    return `${url} has the content type ${type} instead of application/json`
  return json ? undefined : `${url} is not a JSON object`
}

/** Fetches a document from all URLs that clients try; `found` is undefined if no URL returns a JSON object. */
const documentAt = async (
  { check, path, identifiedBy }: Document,
  identifier: string,
  ask: Ask,
): Promise<{ readonly findings: readonly Finding[]; readonly found: Metadata | undefined }> => {
  const findings: Finding[] = []
  let found: Metadata | undefined
  for (const { name, url } of formsOf(path, identifier)) {
    const response = await ask(url)
    const problem = problemOf(response, url)
    const label = name === 'inserted' ? check : `${check}-${name}`
    if (problem !== undefined) {
      const advice = `${problem}. Let the proxy forward this path unchanged.`
      findings.push((name === 'inserted' ? fail : warn)(label, advice))
      continue
    }
    found ??= response.json
    findings.push(ok(label))
    if (name === 'inserted') findings.push(await headAt(url, `${check}-head`, ask))
  }
  if (found) {
    const named = found[identifiedBy]
    findings.push(
      unless(
        `${check}-${identifiedBy}`,
        [named !== identifier && `The document names ${shown(named)} instead of ${identifier}`],
        'Clients reject this document: start the server with its public URL as BASE_URL.',
      ),
    )
  }
  return { findings, found }
}

const headAt = async (url: string, check: string, ask: Ask): Promise<Finding> => {
  const { status, text } = await ask(url, { method: 'HEAD' })
  const problem = status === 200 && text === '' ? undefined : `HEAD returns ${status}`
  return unless(
    check,
    [problem],
    'The response to HEAD must equal the response to GET, without the body.',
  )
}

const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

/** Fetches and checks the metadata of the server and of its API. RFC 8414, RFC 9728. */
export const discover = async (
  issuer: string,
  ask: Ask,
): Promise<{ readonly findings: readonly Finding[]; readonly metadata: Metadata | undefined }> => {
  const { findings, found } = await documentAt(serverMetadata, issuer, ask)
  if (!found) return { findings, metadata: undefined }
  const resource = await documentAt(resourceMetadata, issuer, ask)
  const servers = resource.found?.authorization_servers
  const isNamed = Array.isArray(servers) && servers.includes(issuer)
  return {
    metadata: { ...resource.found, ...found },
    findings: [
      transport(issuer),
      ...findings,
      addresses(issuer, found),
      required(found),
      ...resource.findings,
      unless(
        'resource-metadata-server',
        [
          resource.found &&
            !isNamed &&
            `The document names ${shown(servers)} as authorization servers`,
        ],
        'Clients cannot find the authorization server of the API: start the server with its public URL as BASE_URL.',
      ),
    ],
  }
}

const transport = (issuer: string): Finding =>
  new URL(issuer).protocol === 'https:'
    ? ok('https')
    : warn(
        'https',
        'The server uses http, which is only suitable for development on one machine. On a network, use https (RFC 6749 §3.1, RFC 9700 §2.6).',
      )

// Behind a proxy, the URLs are wrong if BASE_URL is not the public URL.
const addresses = (issuer: string, metadata: Metadata): Finding => {
  const { origin } = new URL(issuer)
  const elsewhere = Object.entries(metadata).filter(
    ([member, value]) =>
      /_(?:endpoint|uri)$/.test(member) &&
      typeof value === 'string' &&
      !(URL.canParse(value) && new URL(value).origin === origin),
  )
  const names = elsewhere.map(([member]) => member).join(', ')
  const [first] = elsewhere
  return unless(
    'addresses',
    [first && `These URLs are not at ${origin}: ${names}, for instance ${shown(first[1])}`],
    'All URLs have the scheme and host of BASE_URL. Set BASE_URL to the public URL, with https if the proxy uses https.',
  )
}

// RFC 8414 §2
const required = (metadata: Metadata): Finding =>
  unless(
    'metadata-members',
    ['authorization_endpoint', 'token_endpoint', 'response_types_supported'].map(
      (member) => metadata[member] === undefined && `${member} is missing`,
    ),
    'Clients require these members.',
  )
