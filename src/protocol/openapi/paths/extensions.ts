import type { Described } from '../described.ts'
import { answerOf, namedAnswer } from '../responses.ts'
import {
  about,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  object,
  type Part,
  type Parts,
  text,
} from '../schema.ts'
import { byClient } from '../security.ts'

/** A form that a client sends, with its credentials in it or in the header. */
const formOf = (properties: Parts, required: readonly string[] = []): Part => ({
  required: true,
  content: {
    'application/x-www-form-urlencoded': {
      schema: {
        type: 'object',
        properties: { ...properties, client_id: text, client_secret: text },
        required,
      },
    },
  },
})

const refusals: Parts = {
  400: answerOf('A parameter is missing, or not valid.', named('Problem')),
  401: answerOf('The client is unknown, or did not prove who it is.', named('Problem')),
  413: namedAnswer('TooLarge'),
  503: namedAnswer('Unavailable'),
  default: answerOf('Any other refusal: too many requests for one.', named('Problem')),
}

interface Posted {
  readonly operationId: string
  readonly summary: string
  readonly body: Part
  readonly answers: Parts
}

const postByClient = ({ operationId, summary, body, answers }: Posted): Part => ({
  post: {
    operationId,
    summary,
    tags: ['protocol'],
    security: byClient,
    requestBody: body,
    responses: { ...answers, ...refusals },
  },
})

const aboutToken = formOf({ token: text, token_type_hint: text }, ['token'])

const revocation = postByClient({
  operationId: 'revoke',
  summary: 'Ends a token of the client (RFC 7009)',
  body: aboutToken,
  answers: { 200: answerOf('It is ended, or was none of the client’s.', object({})) },
})

const introspection = postByClient({
  operationId: 'introspect',
  summary: 'What a token of the client is good for (RFC 7662)',
  body: aboutToken,
  answers: {
    200: answerOf(
      'Without any other member, where it is not active or not for the client to know.',
      object(
        {
          active: flag,
          scope: text,
          client_id: text,
          sub: text,
          iss: text,
          aud: { type: ['string', 'array'], items: text },
          iat: count,
          exp: count,
          jti: text,
          token_type: text,
          cnf: object({ jkt: text }),
        },
        {
          optional: [
            'scope',
            'client_id',
            'sub',
            'iss',
            'aud',
            'iat',
            'exp',
            'jti',
            'token_type',
            'cnf',
          ],
        },
      ),
    ),
  },
})

const pushedRequest = postByClient({
  operationId: 'pushAuthorizationRequest',
  summary: 'Keeps an authorization request, to be named by `request_uri` (RFC 9126)',
  body: formOf({ response_type: text, redirect_uri: text, scope: text, state: text }),
  answers: {
    201: answerOf(
      'It is kept.',
      object({ request_uri: text, expires_in: about('Seconds.', count) }),
    ),
  },
})

const deviceAuthorization = postByClient({
  operationId: 'authorizeDevice',
  summary: 'Codes for a device without a browser (RFC 8628)',
  body: formOf({ scope: text }),
  answers: {
    200: answerOf(
      'What its user types, and where.',
      object({
        device_code: text,
        user_code: text,
        verification_uri: text,
        verification_uri_complete: text,
        expires_in: about('Seconds.', count),
        interval: about('Seconds between two token requests.', count),
      }),
    ),
  },
})

const keys: Part = {
  get: {
    operationId: 'getKeys',
    summary: 'The keys that access tokens are signed by (RFC 7517)',
    tags: ['metadata'],
    security: [],
    responses: {
      200: answerOf('The same for everybody.', object({ keys: list({ type: 'object' }) })),
    },
  },
}

const registered = answerOf('What the client is here.', named('RegisteredClient'))
const metadataBody: Part = {
  required: true,
  content: { 'application/json': { schema: { type: 'object' } } },
}

const registrationRefusals: Parts = {
  400: refusals['400'] ?? {},
  401: answerOf(
    'A token is needed, or is not valid.',
    { type: 'object' },
    { 'WWW-Authenticate': { description: 'A challenge of RFC 6750.', schema: text } },
  ),
  413: namedAnswer('TooLarge'),
  503: namedAnswer('Unavailable'),
  default: refusals.default ?? {},
}

const registration = ({ settings }: Described): Parts => {
  const path = `${settings.oauthPrefix}/register`
  const needsToken = settings.dynamicRegistration === 'token'
  const { 401: challenged, ...withoutToken } = registrationRefusals
  const { 400: _, 413: __, ...withoutBody } = registrationRefusals
  const managed = { tags: ['protocol'], security: [{ registrationToken: [] }] }
  return {
    [path]: {
      post: {
        operationId: 'register',
        summary: 'Registers a client (RFC 7591)',
        tags: ['protocol'],
        security: needsToken ? [{ registrationToken: [] }] : [],
        requestBody: metadataBody,
        responses: {
          201: registered,
          ...withoutToken,
          ...(needsToken && challenged && { 401: challenged }),
        },
      },
    },
    [`${path}/{client_id}`]: {
      parameters: [{ name: 'client_id', in: 'path', required: true, schema: text }],
      get: {
        ...managed,
        operationId: 'getRegistration',
        summary: 'What a client registered (RFC 7592)',
        responses: { 200: registered, ...withoutBody },
      },
      put: {
        ...managed,
        operationId: 'replaceRegistration',
        summary: 'Replaces what a client registered (RFC 7592)',
        requestBody: metadataBody,
        responses: { 200: registered, ...registrationRefusals },
      },
      delete: {
        ...managed,
        operationId: 'deleteRegistration',
        summary: 'Deletes a client that registered itself (RFC 7592)',
        responses: { 204: { description: 'It is gone.' }, ...withoutBody },
      },
    },
  }
}

const leakedItem = object(
  { token: text, type: text, url: nullable(text), source: nullable(text) },
  { optional: ['url', 'source'] },
)

const leakReport: Part = {
  post: {
    operationId: 'reportLeaked',
    summary: 'Ends credentials that a secret scanner found',
    tags: ['protocol'],
    security: [],
    parameters: ['Github-Public-Key-Identifier', 'Github-Public-Key-Signature'].map((name) => ({
      name,
      in: 'header',
      schema: text,
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: list({ ...leakedItem, additionalProperties: true }) },
      },
    },
    responses: {
      200: answerOf(
        'What each was, in the same order.',
        list(
          object({
            token_raw: text,
            token_type: text,
            label: choice(['true_positive', 'false_positive']),
          }),
        ),
      ),
      400: refusals['400'] ?? {},
      403: answerOf('The report is not signed by a key that is known here.', named('Problem')),
      413: namedAnswer('TooLarge'),
      503: namedAnswer('Unavailable'),
      default: refusals.default ?? {},
    },
  },
}

/** The endpoints of the standards that are switched on. */
export const extensionPaths = (server: Described): Parts => {
  const { settings } = server
  const root = settings.oauthPrefix
  return {
    ...(settings.revocation && { [`${root}/revoke`]: revocation }),
    ...(settings.introspection && { [`${root}/introspect`]: introspection }),
    ...(settings.pushedAuthorizationRequests !== 'off' && { [`${root}/par`]: pushedRequest }),
    ...(settings.deviceAuthorization && { [`${root}/device_authorization`]: deviceAuthorization }),
    ...(settings.accessTokenFormat === 'jwt' && { [`${root}/jwks`]: keys }),
    ...(settings.dynamicRegistration !== 'off' && registration(server)),
    ...(takesLeakReports(settings) && { [`${root}/leaked`]: leakReport }),
  }
}

const takesLeakReports = ({
  acceptUnsignedLeakReports,
  leakReportKeys,
}: Described['settings']): boolean =>
  acceptUnsignedLeakReports || Object.keys(leakReportKeys).length > 0
