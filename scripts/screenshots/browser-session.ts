import type { AuthorizationServer, UserId } from 'svc-oauth2server'

/** A browser that somebody uses somewhere. */
export interface Device {
  readonly address: string
  readonly userAgent: string
}

/** Logs a user in without the login page. @returns the cookie of the browser: its name and its value */
export const beginSession = async (
  server: AuthorizationServer,
  userId: UserId,
  { address, userAgent }: Device,
): Promise<{ readonly name: string; readonly value: string }> => {
  const setCookie = await server.sessions.signIn(userId, {
    cookie: null,
    address,
    userAgent,
    raw: undefined,
  })
  const [pair = ''] = setCookie.split(';')
  const [name = '', value = ''] = pair.split('=')
  return { name, value }
}

/** What the browsers of the tests and of the pictures take as the cookie of a session. */
export const asBrowserCookie = (cookie: { readonly name: string; readonly value: string }) =>
  ({
    ...cookie,
    domain: 'localhost',
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
  }) as const
