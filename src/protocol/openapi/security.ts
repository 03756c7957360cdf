import type { Described } from './described.ts'
import type { Part, Parts } from './schema.ts'

/** How callers say who they are. */
export const securitySchemes = ({ settings, sessionCookie }: Described): Parts => ({
  ...(sessionCookie !== null && {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description: 'The session of a user who logged in with this very browser.',
    },
  }),
  sessionJwt: jwtScheme(settings),
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of a client application, or a personal one.',
  },
  ...(settings.acceptQueryAccessToken && {
    accessTokenInQuery: { type: 'apiKey', in: 'query', name: 'access_token' },
  }),
  client: {
    type: 'http',
    scheme: 'basic',
    description: 'Client id and client secret, form-encoded each (RFC 6749 §2.3.1).',
  },
  ...(settings.dynamicRegistration !== 'off' && {
    registrationToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The initial access token, or the registration token of a client (RFC 7591).',
    },
  }),
})

const jwtScheme = ({ jwtAuthHeader, jwtAuthHeaderType }: Described['settings']): Part => {
  const description =
    'The JWT of the session, which a page of the application embeds as `authorized_token`.'
  if (jwtAuthHeader.toLowerCase() === 'authorization' && jwtAuthHeaderType !== null)
    return {
      type: 'http',
      scheme: jwtAuthHeaderType.toLowerCase(),
      bearerFormat: 'JWT',
      description,
    }
  const word = jwtAuthHeaderType === null ? '' : ` After the word ${jwtAuthHeaderType} and a space.`
  return { type: 'apiKey', in: 'header', name: jwtAuthHeader, description: `${description}${word}` }
}

type Security = readonly Readonly<Record<string, readonly string[]>>[]

/** A script of the session: its cookie and its JWT, both. */
export const bySession = ({ sessionCookie }: Described): Security => [
  { ...(sessionCookie !== null && { session: [] }), sessionJwt: [] },
]

/** The holder of a token. */
export const byToken = ({ settings }: Described): Security => [
  { accessToken: [] },
  ...(settings.acceptQueryAccessToken ? [{ accessTokenInQuery: [] }] : []),
]

/** A client that authenticates by the Basic scheme; or in the body, or by its id alone. */
export const byClient: Security = [{ client: [] }, {}]
