import type { Described } from './described.ts'
import type { Part, Parts } from './schema.ts'

// RFC 6750 §2.3 advises against it, so the document does not offer it to generated clients.
const query = ' The parameter `access_token` of the query is accepted instead, but not recommended.'

/** Describes how callers authenticate. */
export const securitySchemes = ({ settings, sessionCookie }: Described): Parts => ({
  ...(sessionCookie !== null && {
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description: 'The session of a user who logged in with this browser.',
    },
  }),
  sessionJwt: jwtScheme(settings),
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: `An access token of a client application, or a personal access token.${settings.acceptQueryAccessToken ? query : ''}`,
  },
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

/**
 * A script with the cookie and the JWT of a session; a page with the cookie alone; nobody, who is redirected to the
 * login.
 */
export const bySession = ({ sessionCookie }: Described): Security => {
  const session = sessionCookie === null ? {} : { session: [] }
  return [{ ...session, sessionJwt: [] }, ...(sessionCookie === null ? [] : [session]), {}]
}

/** The holder of a token. */
export const byToken: Security = [{ accessToken: [] }]

/** A client that authenticates by the Basic scheme, in the body, or by its ID alone. */
export const byClient: Security = [{ client: [] }, {}]
