import type { TestServer } from '../../support/server.ts'
import { authorizationOf } from '../../support/tokens.ts'
import { admin, applications, type Fields, sessions } from './script.ts'

/** The IDs of one object of each type that a user can have. */
export interface UserObjects {
  readonly clientId: string
  readonly tokenId: number
  /** The client ID of an application that the user authorized. */
  readonly authorizedId: string
  /** The ID of the token that the authorized application received. */
  readonly deviceId: number
  readonly sessionId: string
}

export const createUserObjects = async (app: TestServer, user = app.user): Promise<UserObjects> => {
  const { clientId } = await app.client({ userId: user.id, name: 'Printer' })
  const { clientId: authorizedId } = await app.client({ userId: null })
  const { token } = await authorizationOf({ ...app, user }, authorizedId)
  const personal = await app.server.tokens.createPersonal('Laptop', user.id, {
    scopes: ['notes:read'],
  })
  const { items } = await app.server.sessions.listByUser(user.id, { after: null, limit: 1 })
  return {
    clientId,
    tokenId: personal.id,
    authorizedId,
    deviceId: token.id,
    sessionId: items[0]?.id ?? '',
  }
}

/** Returns every request that reads or changes an object of the user. A request with a body, even `{}`, is a POST. */
export const requestsFor = (things: UserObjects): readonly (readonly [path: string, Fields?])[] => {
  const { clientId, tokenId, authorizedId, deviceId, sessionId } = things
  const token = `${applications}/tokens/${tokenId}`
  return [
    [`${applications}/clients/${clientId}/`],
    [`${applications}/clients/${clientId}/`, { name: 'Other' }],
    [`${applications}/clients/${clientId}/`, { delete: 'yes', confirm_name: 'Printer' }],
    [`${applications}/clients/${clientId}/reset/`, {}],
    [`${token}/`],
    [`${token}/`, { name: 'Other' }],
    [`${token}/`, { delete: 'yes' }],
    [`${token}/`, { end_former: 'yes' }],
    [`${token}/`, { reduce: 'yes' }],
    [`${token}/rotate/`, {}],
    [`${applications}/tokens/${deviceId}/view/`],
    [`${applications}/tokens/${deviceId}/revoke/`, {}],
    [`${applications}/authorized/${authorizedId}/revoke/`, {}],
    [sessions, { session_id: sessionId }],
  ]
}

/** Requests that refer to no object of a user. */
export const generalRequests: readonly (readonly [path: string, Fields?])[] = [
  [`${applications}/`],
  [`${applications}/tokens/`],
  [`${applications}/clients/`],
  [`${applications}/authorized/`],
  [`${applications}/clients/new/`],
  [`${applications}/clients/new/`, { name: 'New' }],
  [`${applications}/tokens/new/`],
  [`${applications}/tokens/new/`, { name: 'New' }],
  [`${applications}/authorized/revoke/`, {}],
  [sessions],
  [sessions, { others: 'yes' }],
  ['/account/settings/leaked/'],
  ['/account/settings/leaked/', { credential: 'x'.repeat(43) }],
]

/** Returns the requests that only administrators may send. */
export const adminRequests = ({
  clientId,
  tokenId,
}: UserObjects): readonly (readonly [string, Fields?])[] => [
  [admin],
  ['/admin/activity/'],
  [admin, { client_id: clientId, act: 'verify' }],
  [admin, { client_id: clientId, act: 'delete', confirm_name: 'Printer' }],
  [admin, { token_id: tokenId, act: 'delete' }],
  ['/admin/overview/'],
  [`${admin}${clientId}/`],
  [`${admin}${clientId}/`, { act: 'verify' }],
  ['/admin/tokens/'],
  ['/admin/tokens/', { token_id: tokenId, act: 'delete' }],
]
