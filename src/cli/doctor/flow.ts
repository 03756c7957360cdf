import { type Application, type AuthorizationRequest, callback, methodsOf } from './application.ts'
import type { HttpResponse } from './ask.ts'
import type { Browser } from './browser.ts'
import { pingOf } from './challenge.ts'
import { type Examination, endpointOf, setting } from './examination.ts'
import { type Finding, fail, ok, skip, unless, warn } from './finding.ts'
import { cookieAdvice } from './pages.ts'

/** The browser of a user, and an application that requests access. */
export interface Actors {
  readonly browser: Browser
  readonly application: Application
  /** A confidential application, if `application` is public and the server also supports confidential clients. */
  readonly confidential?: Application | undefined
}

interface Tokens {
  readonly access: string
  readonly refresh: string
}

/** The error that a step throws if the step cannot continue. */
class Stopped extends Error {}

/**
 * Runs the flow of a client: a code with PKCE, a refresh and a revocation. Also sends requests that the server must
 * refuse.
 */
export const flow = async (
  examination: Examination,
  actors: Actors,
): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  const attempt = async (check: string, work: () => Promise<Finding>): Promise<void> => {
    try {
      findings.push(await work())
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      findings.push(
        unless(
          check,
          [error.message],
          'Clients cannot continue: check the logs of the server and of the proxy.',
        ),
      )
    }
  }
  const steps: Readonly<Record<string, Step>> = {
    'flow-code': code,
    'flow-redirect-uri': exactRedirectUri,
    'flow-pkce': withoutChallenge,
    'flow-pkce-plain': plainChallenge,
    'flow-code-once': codeOnce,
    'flow-refresh': refresh,
    'flow-refresh-reuse': refreshReuse,
    'flow-revocation': revocation,
  }
  for (const [check, step] of Object.entries(steps)) {
    // All other steps depend on the first step.
    if (findings[0]?.state === 'fail') findings.push(skip(check, 'flow-code fails.'))
    else await attempt(check, () => step({ check, examination, ...actors }))
  }
  const cookies = [...actors.browser.cookieProblems]
  return [...findings, unless('flow-cookies', cookies, cookieAdvice)]
}

interface Scene extends Actors {
  readonly check: string
  readonly examination: Examination
}
type Step = (scene: Scene) => Promise<Finding>

/** Returns the URL of the redirect to the client, or a text that says why there was no redirect. */
const outcomeOf = async (
  { application, browser }: Actors,
  request: AuthorizationRequest,
): Promise<URL | string> => {
  const url = await application.urlOf(request)
  return typeof url === 'string' ? url : browser.authorize(url.href)
}

interface Granted {
  readonly code: string
  readonly request: AuthorizationRequest
  readonly response: URL
}

const granted = async (actors: Actors): Promise<Granted> => {
  const request = actors.application.newRequest()
  const response = await outcomeOf(actors, request)
  if (typeof response === 'string')
    throw new Stopped(`The authorization request, the login or the consent failed: ${response}`)
  const found = response.searchParams.get('code')
  if (found === null)
    throw new Stopped(
      `The authorization response has the error ${response.searchParams.get('error')}`,
    )
  return { code: found, request, response }
}

const tokensIn = ({ status, json }: HttpResponse): Tokens => {
  const { access_token: access, refresh_token: refreshToken } = json ?? {}
  if (status !== 200 || typeof access !== 'string')
    throw new Stopped(`The token request returns ${status} ${json?.error ?? ''}`.trim())
  return { access, refresh: typeof refreshToken === 'string' ? refreshToken : '' }
}

const newTokens = async (actors: Actors): Promise<Tokens> => {
  const { code: found, request } = await granted(actors)
  return tokensIn(await actors.application.redeem(found, request))
}

/** Returns the status of a request with this token. */
const statusOf = async ({ application, examination }: Scene, token: string): Promise<number> =>
  (await application.use(pingOf(examination) ?? '', token)).status

const isUseless = async (scene: Scene, token: string, what: string): Promise<string | false> =>
  (await statusOf(scene, token)) !== 401 && `${what} still works`

// RFC 6749 §4.1, RFC 9207 §2
const code: Step = async (scene) => {
  const { application, examination, check } = scene
  const { code: found, request, response } = await granted(scene)
  const { searchParams } = response
  const redeemed = await application.redeem(found, request)
  const { access } = tokensIn(redeemed)
  const status = await statusOf(scene, access)
  const is = (name: string, value: unknown) =>
    searchParams.getAll(name).length === 1 && searchParams.get(name) === value
  return unless(
    check,
    [
      `${response.origin}${response.pathname}` !== callback &&
        `The browser is redirected to ${response.origin}`,
      !is('state', request.state) &&
        'The state of the response differs from the state of the request',
      !is('iss', examination.metadata.issuer) &&
        'The response does not contain the issuer (RFC 9207)',
      !/\bno-store\b/.test(redeemed.headers.get('cache-control') ?? '') &&
        'Caches may store the token response (RFC 6749 §5.1)',
      status !== 200 &&
        `A request with a new token returns ${status}, perhaps because the proxy removes the Authorization header`,
    ],
    'Clients require each of these properties.',
  )
}

// RFC 9700 §2.1
const exactRedirectUri: Step = async (scene) => {
  for (const uri of [
    `${callback}/other`,
    `${callback}?other=1`,
    'https://other.example/callback',
  ]) {
    const request = scene.application.newRequest({ redirect_uri: uri })
    const response = await outcomeOf(scene, request)
    if (typeof response === 'string') continue
    return unless(
      scene.check,
      [`The browser is redirected to ${uri}, which is not registered`],
      'Redirect URIs must be compared exactly (RFC 9700 §2.1).',
    )
  }
  return ok(scene.check)
}

const getsCode = async (scene: Scene, given: Parameters<Application['newRequest']>[0]) => {
  const response = await outcomeOf(scene, scene.application.newRequest(given))
  return typeof response !== 'string' && response.searchParams.has('code')
}

// RFC 9700 §2.1.1. Only warn, because the setting may be deliberate.
const withoutChallenge: Step = async (scene) => {
  const { application, confidential, check } = scene
  const without = { code_challenge: undefined, code_challenge_method: undefined }
  const served: string[] = []
  if (await getsCode(scene, without))
    served.push(application.isConfidential ? 'confidential' : 'public')
  if (confidential) {
    const other = { ...scene, application: confidential }
    if (await getsCode(other, without)) served.push('confidential')
    // Send a request with a challenge: if this request also fails, the missing challenge was not the reason.
    else await newTokens(other).catch(asConfidential)
  }
  return served.length === 0
    ? ok(check)
    : warn(
        check,
        `The server issues codes without PKCE to ${served.join(' and ')} clients: a stolen or injected code can be redeemed (RFC 9700 §2.1.1). Set ${setting('requirePkce', 'always')}`,
      )
}

const asConfidential = (error: unknown): never => {
  if (!(error instanceof Stopped)) throw error
  throw new Stopped(`As a confidential client: ${error.message}`)
}

// RFC 7636 §7.2
const plainChallenge: Step = async (scene) =>
  unless(
    scene.check,
    [
      (await getsCode(scene, { code_challenge_method: 'plain' })) &&
        'A request with the method plain receives a code',
    ],
    'The method plain does not protect codes (RFC 9700 §2.1.1): check whether another server answers here.',
  )

// RFC 6749 §4.1.2
const codeOnce: Step = async (scene) => {
  const { application, check } = scene
  const { code: found, request } = await granted(scene)
  const { access } = tokensIn(await application.redeem(found, request))
  const again = await application.redeem(found, request)
  return unless(
    check,
    [
      again.status === 200 && 'A code can be redeemed twice',
      await isUseless(scene, access, 'The access token of a code that was redeemed twice'),
    ],
    'A stolen code must be useless (RFC 6749 §4.1.2).',
  )
}

const noRefresh =
  'There is no refresh token: users must log in again whenever an access token expires.'

// Only public clients need rotating refresh tokens: FAPI 2.0 Security Profile §5.3.2.1, item 9.
const isPublic = ({ examination }: Pick<Scene, 'examination'>): boolean =>
  methodsOf(examination).includes('none')

// RFC 9700 §4.14.2
const refresh: Step = async (scene) => {
  const types = scene.examination.metadata.grant_types_supported
  if (Array.isArray(types) && !types.includes('refresh_token'))
    return warn(scene.check, `${noRefresh} Set ${setting('allowedGrantTypes', '…,refresh_token')}`)
  const first = await newTokens(scene)
  if (first.refresh === '')
    return fail(
      scene.check,
      `${noRefresh} Check whether the proxy removes refresh_token from the response.`,
    )
  const second = tokensIn(await scene.application.refresh(first.refresh))
  const isKept = isPublic(scene) && second.refresh === first.refresh
  return unless(
    scene.check,
    [
      isKept && 'The refresh token stays the same',
      (await statusOf(scene, second.access)) !== 200 && 'The new access token does not work',
    ],
    isKept
      ? 'Refresh tokens must rotate (RFC 9700 §4.14.2).'
      : 'Check whether the proxy changes the header Authorization, or stores the response of the token endpoint.',
  )
}

// After the client has used the successor, only a thief would send the first refresh token. RFC 9700 §4.14.2
const refreshReuse: Step = async (scene) => {
  const { application, check } = scene
  const first = await newTokens(scene)
  if (first.refresh === '') return skip(check, 'there is no refresh token.')
  const second = tokensIn(await application.refresh(first.refresh))
  if (!isPublic(scene) && second.refresh === first.refresh) return unless(check, [], '')
  const third = tokensIn(await application.refresh(second.refresh))
  const again = await application.refresh(first.refresh)
  return unless(
    check,
    [
      again.status === 200 && 'A refresh token that was replaced still works',
      await isUseless(scene, third.access, 'The access token of the same authorization'),
    ],
    'The theft of a refresh token goes unnoticed (RFC 9700 §4.14.2).',
  )
}

// RFC 7009 §2
const revocation: Step = async (scene) => {
  const { application, examination, check } = scene
  const endpoint = endpointOf(examination, 'revocation_endpoint')
  if (endpoint === undefined) return skip(check, 'the server has no revocation endpoint.')
  const { access, refresh: refreshToken } = await newTokens(scene)
  const response = await application.revoke(endpoint, refreshToken || access)
  return unless(
    check,
    [
      response.status !== 200 && `The revocation request returns ${response.status}`,
      await isUseless(scene, access, 'An access token that was revoked'),
      refreshToken !== '' &&
        (await application.refresh(refreshToken)).status === 200 &&
        'A refresh token that was revoked still works',
    ],
    'A client cannot revoke its access when a user logs out (RFC 7009 §2).',
  )
}
