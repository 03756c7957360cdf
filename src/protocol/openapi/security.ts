import type { Operation } from '../plug-ins/operation.ts'
import type { Configuration, ServerContext } from '../server-context.ts'
import type { Part, Parts } from './schema.ts'

// Mention the query parameter only in a description, because RFC 6750 §2.3 advises against it.
const query = ' The query parameter `access_token` is also accepted, but not recommended.'

/** Describes how callers authenticate. */
export const securitySchemes = (server: ServerContext): Parts => {
  const { settings, sessions } = server
  return {
    ...(hasOwnLogin(server) && {
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: sessions.cookieName,
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
      description: 'The client ID and the client secret, each form-encoded (RFC 6749 §2.3.1).',
    },
    ...(settings.dynamicRegistration !== 'off' && {
      registrationToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'The initial access token, or the registration token of a client (RFC 7591).',
      },
    }),
  }
}

/** Whether users log in at this server. Otherwise the application has its own login. */
const hasOwnLogin = ({ ui }: Pick<ServerContext, 'ui'>): boolean => ui.links.sessions !== null

const jwtScheme = ({ jwtAuthHeader, jwtAuthHeaderType }: Configuration['settings']): Part => {
  const description =
    'The JWT of the session, which a page of the application embeds as `authorized_token`.'
  if (jwtAuthHeader.toLowerCase() === 'authorization' && jwtAuthHeaderType !== null)
    return {
      type: 'http',
      scheme: jwtAuthHeaderType.toLowerCase(),
      bearerFormat: 'JWT',
      description,
    }
  const word =
    jwtAuthHeaderType === null ? '' : ` The value begins with ${jwtAuthHeaderType} and a space.`
  return { type: 'apiKey', in: 'header', name: jwtAuthHeader, description: `${description}${word}` }
}

type Security = Operation['security']

/**
 * The credentials of a settings request. A script sends the session cookie and the JWT. A browser that opens a page
 * sends only the cookie. Without the cookie, the server redirects the browser to the login.
 */
export const bySession = (server: ServerContext): Security => {
  if (!hasOwnLogin(server)) return [{ sessionJwt: [] }, {}]
  return [{ session: [], sessionJwt: [] }, { session: [] }, {}]
}

/** The credentials of a token holder. */
export const byToken: Security = [{ accessToken: [] }]

/** The credentials of a client in a Basic header. The header is optional, because a client may use the body instead. */
export const byClient: Security = [{ client: [] }, {}]
