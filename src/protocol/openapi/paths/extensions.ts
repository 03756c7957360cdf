import { z } from 'zod'
import type { Described } from '../described.ts'
import { namedResponse, responseOf } from '../responses.ts'
import { named, type Part, type Parts, text } from '../schema.ts'
import * as shapes from '../schemas/protocol.ts'
import {
  aboutToken,
  deviceRequest,
  leakReportForm,
  leakResponse,
  pushedRequestForm,
} from '../schemas/requests.ts'
import { byClient } from '../security.ts'
import { schemaOf } from '../shape.ts'

/** Describes the form of a client, which may contain the client's credentials. */
const formOf = (shape: z.ZodType): Part => ({
  required: true,
  content: { 'application/x-www-form-urlencoded': { schema: schemaOf(shape) } },
})

const refusals: Parts = {
  400: responseOf('A parameter is missing or not valid.', named('Problem')),
  401: responseOf('The client is unknown, or its authentication failed.', named('Problem')),
  413: namedResponse('TooLarge'),
  503: namedResponse('Unavailable'),
  default: responseOf('Another error, for example too many requests.', named('Problem')),
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

const revocation = postByClient({
  operationId: 'revoke',
  summary: 'Revokes a token of the client (RFC 7009)',
  body: formOf(aboutToken),
  answers: {
    200: responseOf('The token is revoked or is not a token of the client.', named('Done')),
  },
})

const introspection = postByClient({
  operationId: 'introspect',
  summary: 'Describes a token of the client (RFC 7662)',
  body: formOf(aboutToken),
  answers: {
    200: responseOf(
      'The token; only `active: false` if the token is inactive or the client may not see it.',
      schemaOf(shapes.introspection),
    ),
  },
})

const pushedRequest = postByClient({
  operationId: 'pushAuthorizationRequest',
  summary: 'Stores an authorization request and returns its `request_uri` (RFC 9126)',
  body: formOf(pushedRequestForm),
  answers: { 201: responseOf('The request is stored.', schemaOf(shapes.pushedRequest)) },
})

const deviceAuthorization = postByClient({
  operationId: 'authorizeDevice',
  summary: 'Creates codes for a device without a browser (RFC 8628)',
  body: formOf(deviceRequest),
  answers: {
    200: responseOf(
      'The user code, and the URL at which the user enters it.',
      schemaOf(shapes.deviceCodes),
    ),
  },
})

const keys: Part = {
  get: {
    operationId: 'getKeys',
    summary: 'Returns the public keys that verify tokens (RFC 7517)',
    tags: ['metadata'],
    security: [],
    responses: {
      200: responseOf('The keys.', schemaOf(z.strictObject({ keys: z.array(z.looseObject({})) }))),
    },
  },
}

const registered = responseOf('The registered client.', named('RegisteredClient'))
const metadataBody: Part = {
  required: true,
  content: { 'application/json': { schema: { type: 'object' } } },
}

const registrationRefusals: Parts = {
  400: refusals['400'] ?? {},
  401: responseOf(
    'The token is missing or not valid.',
    { type: 'object' },
    {
      'WWW-Authenticate': {
        description: 'A challenge (RFC 6750 §3).',
        required: true,
        schema: text,
      },
    },
  ),
  413: namedResponse('TooLarge'),
  503: namedResponse('Unavailable'),
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
        summary: 'Returns the registration of a client (RFC 7592)',
        responses: { 200: registered, ...withoutBody },
      },
      put: {
        ...managed,
        operationId: 'replaceRegistration',
        summary: 'Replaces the registration of a client (RFC 7592)',
        requestBody: metadataBody,
        responses: { 200: registered, ...registrationRefusals },
      },
      delete: {
        ...managed,
        operationId: 'deleteRegistration',
        summary: 'Deletes a client that registered itself (RFC 7592)',
        responses: { 204: { description: 'The client is deleted.' }, ...withoutBody },
      },
    },
  }
}

const leakReport: Part = {
  post: {
    operationId: 'reportLeaked',
    summary: 'Revokes credentials that a secret scanner found',
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
        'application/json': { schema: schemaOf(leakReportForm) },
      },
    },
    responses: {
      200: responseOf(
        'The verdict on each reported item, in the order of the report.',
        schemaOf(leakResponse),
      ),
      400: refusals['400'] ?? {},
      403: responseOf('The report is not signed with a known key.', named('Problem')),
      413: namedResponse('TooLarge'),
      503: namedResponse('Unavailable'),
      default: refusals.default ?? {},
    },
  },
}

/** Describes the endpoints of the enabled extensions. */
export const extensionPaths = (server: Described): Parts => {
  const { settings } = server
  const root = settings.oauthPrefix
  return {
    ...(settings.revocation && { [`${root}/revoke`]: revocation }),
    ...(settings.introspection && { [`${root}/introspect`]: introspection }),
    ...(settings.pushedAuthorizationRequests !== 'off' && { [`${root}/par`]: pushedRequest }),
    ...(settings.deviceAuthorization && { [`${root}/device_authorization`]: deviceAuthorization }),
    ...((settings.accessTokenFormat === 'jwt' || settings.openidConnect) && {
      [`${root}/jwks`]: keys,
    }),
    ...(settings.dynamicRegistration !== 'off' && registration(server)),
    ...(takesLeakReports(settings) && { [`${root}/leaked`]: leakReport }),
  }
}

const takesLeakReports = ({
  acceptUnsignedLeakReports,
  leakReportKeys,
}: Described['settings']): boolean =>
  acceptUnsignedLeakReports || Object.keys(leakReportKeys).length > 0
