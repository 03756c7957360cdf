import type { HttpResponse } from './ask.ts'
import { type Examination, endpointOf } from './examination.ts'
import { type Finding, unless } from './finding.ts'

/** An origin that the server does not know. */
export const stranger = 'https://doctor.example'

const advice =
  'Applications in a browser cannot use the endpoint: let the proxy forward OPTIONS requests and the headers Access-Control-* unchanged.'

const problemsOf = ({ headers }: HttpResponse, what: string): readonly (string | false)[] => {
  const origin = headers.get('access-control-allow-origin')
  return [
    origin !== '*' && origin !== stranger && `${what} has no Access-Control-Allow-Origin`,
    headers.get('access-control-allow-credentials') === 'true' &&
      `${what} allows credentials, which browsers must not send across sites`,
  ]
}

const lists = (header: string | null, wanted: string): boolean =>
  header === '*' ||
  (header
    ?.toLowerCase()
    .split(',')
    .some((name) => name.trim() === wanted) ??
    false)

/** Checks that scripts of every site may use the endpoint, but not with the browser's cookies. */
const isOpen = async (
  name: string,
  url: string,
  method: string,
  { ask }: Examination,
): Promise<Finding> => {
  const asked = {
    origin: stranger,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
  }
  const preflight = await ask(url, { method: 'OPTIONS', headers: asked })
  const response = await ask(url, { method, headers: { origin: stranger } })
  const allowed = preflight.headers.get('access-control-allow-headers')
  return unless(
    `cors-${name}`,
    [
      (preflight.status < 200 || preflight.status > 299) &&
        `The preflight request (OPTIONS) returns ${preflight.status}`,
      ...problemsOf(preflight, 'The response to OPTIONS'),
      ['authorization', 'content-type'].some((header) => !lists(allowed, header)) &&
        'The response to OPTIONS does not allow the headers Authorization and Content-Type',
      ...problemsOf(response, `The response to ${method}`),
    ],
    advice,
  )
}

/** Checks that scripts of other sites cannot read a page that users see with their session. RFC 9700 §2.6. */
const isClosed = async (name: string, url: string, { ask }: Examination): Promise<Finding> => {
  const asked = { origin: stranger, 'access-control-request-method': 'POST' }
  const responses = [
    await ask(url, { method: 'OPTIONS', headers: asked }),
    await ask(url, { headers: { origin: stranger } }),
  ]
  const isAllowed = responses.some(({ headers }) => headers.has('access-control-allow-origin'))
  return unless(
    `no-cors-${name}`,
    [isAllowed && 'Scripts of other sites may read this page'],
    'Remove Access-Control-Allow-Origin from this page, on which users make decisions (RFC 9700 §2.6).',
  )
}

/** Checks that scripts of other sites can use the endpoints for clients, but not the pages for users. */
export const crossOrigin = async (examination: Examination): Promise<readonly Finding[]> => {
  const { issuer, settings } = examination
  const endpoints = [
    ['token', 'POST'],
    ['revocation', 'POST'],
    ['registration', 'POST'],
    ['pushed_authorization_request', 'POST'],
  ] as const
  const { origin, pathname } = new URL(issuer)
  const metadata = `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
  const findings = [await isOpen('metadata', metadata, 'GET', examination)]
  for (const [name, method] of endpoints) {
    const url = endpointOf(examination, `${name}_endpoint`)
    if (url) findings.push(await isOpen(name, url, method, examination))
  }
  const authorize = endpointOf(examination, 'authorization_endpoint')
  if (authorize) findings.push(await isClosed('authorization', authorize, examination))
  const login = `${issuer}${settings?.loginPath ?? '/login'}`
  findings.push(await isClosed('login', login, examination))
  return findings
}
