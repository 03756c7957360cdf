import type { HttpResponse } from './ask.ts'
import { type Examination, endpointOf } from './examination.ts'
import { type Finding, ok, unless, warn } from './finding.ts'

const directive = (headers: Headers, name: string): string | undefined =>
  (headers.get('content-security-policy') ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name} `))
    ?.slice(name.length + 1)

/** Returns the missing protections of a page against frames, scripts, caches and referrer logs. */
const pageProblems = ({ headers }: HttpResponse): readonly (string | false)[] => [
  directive(headers, 'frame-ancestors') !== "'none'" &&
    "Content-Security-Policy lacks frame-ancestors 'none', so other sites can show the page in a frame (RFC 9700 §4.16)",
  directive(headers, 'default-src') === undefined && 'Content-Security-Policy lacks default-src',
  /'unsafe-(?:inline|eval)'/.test(headers.get('content-security-policy') ?? '') &&
    'Content-Security-Policy allows inline scripts or styles',
  headers.get('x-content-type-options') !== 'nosniff' && 'X-Content-Type-Options is not nosniff',
  !/^(?:no-referrer|same-origin)$/.test(headers.get('referrer-policy') ?? '') &&
    'Referrer-Policy is not no-referrer (RFC 9700 §4.2.4)',
  !/\bno-store\b/.test(headers.get('cache-control') ?? '') && 'Cache-Control is not no-store',
]

const pageAdvice = 'Let the proxy forward the headers of the pages unchanged.'

// Ignore cookies of a load balancer or of the application.
const isOurs = (name: string): boolean =>
  /^(?:__Host-)?oauth2server_session(?:_[A-Za-z0-9]{6})?$/.test(name)

/** Returns the problems of the server's cookies in a response. RFC 6265bis §4.1. */
export const cookieProblems = (
  { headers }: Pick<HttpResponse, 'headers'>,
  issuer: string,
): readonly string[] => {
  const isHttps = new URL(issuer).protocol === 'https:'
  return headers.getSetCookie().flatMap((cookie) => {
    const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim())
    const name = pair.replace(/=.*/s, '')
    if (!isOurs(name)) return []
    const has = (pattern: RegExp) => attributes.some((attribute) => pattern.test(attribute))
    const missing = [
      has(/^secure$/i) ? '' : 'Secure',
      has(/^httponly$/i) ? '' : 'HttpOnly',
      has(/^samesite=(?:lax|strict)$/i) ? '' : 'SameSite',
    ].filter((attribute) => attribute !== '')
    return [
      ...(missing.length === 0 ? [] : [`The cookie ${name} lacks ${missing.join(', ')}`]),
      ...(isHttps && !name.startsWith('__Host-')
        ? [`The name of the cookie ${name} does not begin with __Host-`]
        : []),
    ]
  })
}

export const cookieAdvice =
  'Let the proxy forward cookies unchanged. With an https URL as BASE_URL, the cookie names begin with __Host-.'

/** Checks the headers and cookies of the login page, and the headers of the error page. */
export const pages = async (examination: Examination): Promise<readonly Finding[]> => {
  const { issuer, ask, settings } = examination
  const login = `${issuer}${settings?.loginPath ?? '/login'}`
  const page = await ask(login)
  const findings: Finding[] = []
  if (page.status !== 200 || !page.headers.get('content-type')?.startsWith('text/html')) {
    findings.push(
      warn(
        'login-page',
        `There is no login page at ${login} (${page.status}). If users log in elsewhere, check the headers and cookies of that login page yourself.`,
      ),
    )
  } else {
    const head = await ask(login, { method: 'HEAD' })
    findings.push(
      unless('login-page', pageProblems(page), pageAdvice),
      unless('login-cookies', cookieProblems(page, issuer), cookieAdvice),
      unless(
        'login-head',
        [(head.status !== 200 || head.text !== '') && `HEAD returns ${head.status}`],
        'The response to HEAD must equal the response to GET, without the body.',
      ),
    )
  }
  const authorize = endpointOf(examination, 'authorization_endpoint')
  const error = authorize ? await errorPage(authorize, examination) : undefined
  if (error) findings.push(unless('error-page', pageProblems(error), pageAdvice))
  if (!settings) findings.push(poweredBy([page, error]), strictTransport(page, issuer))
  return findings
}

// Send no parameters: the server responds with the error page, or redirects to the error page.
const errorPage = async (
  authorize: string,
  { ask, issuer }: Examination,
): Promise<HttpResponse> => {
  const sent = await ask(authorize)
  const location = sent.headers.get('location')
  const target = location === null ? undefined : new URL(location, authorize)
  return target?.origin === new URL(issuer).origin ? await ask(target.href) : sent
}

// Only warn: the header reveals the software, but is not unsafe.
const poweredBy = (responses: readonly (HttpResponse | undefined)[]): Finding => {
  const named = responses.flatMap((response) => response?.headers.get('x-powered-by') ?? [])
  return named.length === 0
    ? ok('powered-by')
    : warn(
        'powered-by',
        `X-Powered-By reveals the software of the server (${named[0]}), which helps attackers to find known vulnerabilities. In Express: app.disable('x-powered-by'); elsewhere, let the proxy remove the header.`,
      )
}

const strictTransport = ({ headers }: HttpResponse, issuer: string): Finding =>
  new URL(issuer).protocol !== 'https:' || headers.has('strict-transport-security')
    ? ok('strict-transport')
    : warn(
        'strict-transport',
        'Browsers are not told to use only https: let the proxy add Strict-Transport-Security: max-age=31536000.',
      )
