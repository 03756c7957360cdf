import type { Credential } from '../../model/credential.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import type { Parameters } from '../../model/parameters.ts'
import { credentialsIn } from '../../model/pasted-credentials.ts'
import { leakActs, leaked, leakedForm } from '../../pages/shapes/leaked.ts'
import { notFound } from '../../protocol/endpoints/responses/problem.ts'
import { makeDeletionsFinal } from '../../protocol/leaked/end-credential.ts'
import { findCredential } from '../../protocol/leaked/find-credential.ts'
import { inQuery } from '../../protocol/openapi/schema.ts'
import type { Changed } from '../notice.ts'
import { resource } from '../resource.ts'
import type { SettingsRequest } from '../settings-request.ts'
import { leakedToWire } from '../wire.ts'
import { carryOut } from './act.ts'
import { factsOf, type LeakFacts } from './facts.ts'

/** The maximum number of possible credentials in one text. */
const maxCandidates = 20
/** The time in milliseconds for which the result of a look-up is shown. */
const resultLifetime = 600_000

/** Looks up and revokes leaked credentials. Users see only their own credentials, and administrators see all. */
export const leakedPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/leaked/`,
  operations: () => ({
    get: {
      operationId: 'showLeaked',
      summary: 'Returns the credentials that the user looked up',
      answer: 'The credentials; an empty list without a reference.',
      query: [inQuery('found', 'The reference of an earlier response.')],
    },
    post: {
      operationId: 'handleLeaked',
      summary: 'Looks up a leaked credential, or acts on it',
      finds: true,
      answer: 'The found credentials, in their state after the action.',
      view: leaked,
    },
  }),
  page: 'leaked',
  view: leaked,
  async read(request, refused) {
    const sent = refused?.params.repeated('found')[0]
    const [found = sent] = request.http.queryParameters().repeated('found')
    const facts = found === undefined ? undefined : await resultOf(found, request)
    return {
      view: toJson(found ?? null, facts ?? [], request),
      // The page never repeats the pasted text.
      forPage: () => ({
        isGone: facts === undefined && (found !== undefined || refused?.status === 403),
      }),
    }
  },
  form: leakedForm,
  tooMany: ({ leaked: texts }) => texts.tooMany,
  change: (request, params) =>
    params.repeated('found').length > 0 ? act(request, params) : lookUp(request, params),
})

const toJson = (
  found: string | null,
  facts: readonly LeakFacts[],
  { signedIn, server }: SettingsRequest,
) => ({
  found,
  credentials: facts.map((each) => leakedToWire(each, server.scopes, signedIn.user)),
})

/** Reads the current state of the credentials of an earlier look-up in this session. */
const resultOf = async (
  found: string,
  { server, signedIn }: SettingsRequest,
): Promise<readonly LeakFacts[] | undefined> => {
  const result = await server.shortLived.lookedUp.get(found)
  if (result?.sessionId !== signedIn.sessionId) return undefined
  await Promise.all([server.operations.flushTokenUses(), server.operations.flushAudit()])
  const { user } = signedIn
  // If the user has lost the administrator role since the look-up, show only the user's own credentials.
  const visible = result.credentials.filter(({ userId }) => user.isAdmin || userId === user.id)
  return Promise.all(visible.map((credential) => factsOf(credential, user, server)))
}

/**
 * Looks up the credentials in a pasted text.
 * @throws InvalidField if the text contains too many possible credentials, or no credential that the user may see;
 * OAuthError 429 after too many unsuccessful look-ups
 */
export const lookUp = async (request: SettingsRequest, params: Parameters): Promise<Changed> => {
  const { http, server, signedIn } = request
  const candidates = credentialsIn(params.repeated('credential')[0] ?? '')
  if (candidates.length === 0)
    throw new InvalidField('credential', 'The text contains no credential.', {
      problem: 'credentialMissing',
    })
  if (candidates.length > maxCandidates)
    throw new InvalidField('credential', 'The text contains too many possible credentials.', {
      problem: 'credentialsTooMany',
    })
  const { user } = signedIn
  server.limits.check('wrongTokens', http.address)
  const found = await Promise.all(candidates.map((value) => findCredential(value, server)))
  const visible = found.filter(
    (credential) => credential && (user.isAdmin || credential.userId === user.id),
  )
  await makeDeletionsFinal(found, server)
  if (visible.length === 0) {
    for (const _ of candidates) await server.limits.consume('wrongTokens', http.address)
    throw new InvalidField(
      'credential',
      'The text contains no valid credential that you may see.',
      {
        problem: user.isAdmin ? 'credentialUnknown' : 'credentialNotYours',
      },
    )
  }
  return remember(
    request,
    visible.filter((credential) => credential !== undefined),
  )
}

/** Stores the found credentials for this session. Returns the location of the page that shows these credentials. */
export const remember = async (
  request: SettingsRequest,
  credentials: readonly Credential[],
): Promise<Changed> => {
  const { server, signedIn, asJson } = request
  const name = await server.shortLived.lookedUp.put(
    { sessionId: signedIn.sessionId, credentials: onePerObject(credentials) },
    server.clock() + resultLifetime,
    String(signedIn.user.id),
  )
  const facts = asJson ? ((await resultOf(name, request)) ?? []) : []
  return {
    location: `${server.ui.links.leaked}?found=${name}`,
    ...(asJson && { json: toJson(name, facts, request) }),
  }
}

// An access token and its refresh token are revoked together, so show only the token that occurs first in the text.
const onePerObject = (credentials: readonly Credential[]): readonly Credential[] => [
  ...new Map(
    credentials
      .toReversed()
      .map((one) => [`${one.tokenId ?? one.authorizationId} ${one.digest}`, one]),
  ).values(),
]

const act = async (request: SettingsRequest, params: Parameters): Promise<Changed> => {
  const found = params.required('found')
  const at = params.optional('at') ?? '0'
  const name = leakActs.find((known) => known === params.optional('act'))
  if (!name) throw new InvalidField('act', `act must be one of ${leakActs.join(', ')}.`)
  const facts = /^\d{1,2}$/.test(at) ? (await resultOf(found, request))?.[Number(at)] : undefined
  const { ui } = request.server
  const location = `${ui.links.leaked}?${new URLSearchParams({ found })}`
  if (!facts) {
    if (request.asJson) throw notFound()
    // The page explains that the result has expired.
    return { location }
  }
  const { user } = request.signedIn
  const isDone = name === 'end' ? !facts.exists : name === 'disable' && facts.client?.isDisabled
  // The user may have performed the same action in another tab. Confirm the repetition in the same way.
  const isRepeated = isDone && (name === 'end' || user.isAdmin)
  if (!isRepeated && !facts.acts.includes(name)) throw notFound()
  const done = await carryOut(name, facts, request)
  const after = request.asJson ? ((await resultOf(found, request)) ?? []) : []
  return {
    location,
    notice: { done },
    ...(request.asJson && { json: toJson(found, after, request) }),
  }
}
