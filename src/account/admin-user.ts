import type { z } from 'zod'
import { addressWith } from '../http/request-target.ts'
import type { Client } from '../model/client.ts'
import { shownEmail } from '../model/email-address.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import type { User } from '../model/user.ts'
import { userIdIn } from '../model/user-id.ts'
import { addresses } from '../pages/addresses.ts'
import type { UserApplicationItem } from '../pages/models/admin-users.ts'
import { deviceName } from '../pages/parts/device-name.ts'
import { userActs, userDetails, userForm, user as userShape } from '../pages/shapes/users.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { inPath } from '../protocol/openapi/schema.ts'
import { checkAdmin } from './admin.ts'
import { userItem } from './admin-users.ts'
import { cursorOf, listed } from './list-page.ts'
import { type Changed, showNotice } from './notice.ts'
import { after } from './page-operations.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { asTokenId } from './settings-request.ts'
import {
  authorizedToWire,
  clientToWire,
  personalTokenToWire,
  sessionToWire,
  userToWire,
} from './wire.ts'

/** Shows and manages one user for administrators. */
export const adminUserPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/users/:id/`,
  operations: () => ({
    parameters: [inPath('id', 'The ID of the user.')],
    get: {
      operationId: 'getUser',
      summary: 'Returns a user with sessions, tokens and applications for administrators',
      answer: 'The user.',
      view: userDetails,
      query: [
        after('sessions_after'),
        after('tokens_after'),
        after('clients_after'),
        after('authorized_after'),
      ],
    },
    post: {
      operationId: 'administerUser',
      summary: 'Deactivates or activates a user, ends sessions or revokes tokens of a user',
      answer: 'The user after the change.',
      view: userShape,
    },
  }),
  show: showUser,
  form: userForm,
  async change(request, params) {
    const user = await userOf(request)
    const { http, server } = request
    const done = await act(user, request, params)
    const json = userToWire((await server.users.find(user.id)) ?? user)
    return {
      location: addressWith(http.path, http.query),
      notice: { done },
      json,
    } satisfies Changed
  },
})

/** Returns the user in the path. @throws OAuthError 404 if the user is unknown or the caller is not an administrator */
const userOf = async (request: SettingsRequest): Promise<User> => {
  checkAdmin(request)
  const { http, server } = request
  const id = userIdIn(http.param('id'), server.users.keyType)
  const user = id === undefined ? undefined : await server.users.find(id)
  if (!user) throw notFound()
  return user
}

async function showUser(request: SettingsRequest, refused?: Refused): Promise<Response> {
  const user = await userOf(request)
  const { http, server, signedIn } = request
  const { ui } = server
  await server.operations.flushTokenUses()
  const [sessions, tokens, clients, authorized] = await Promise.all([
    ui.links.sessions === null
      ? undefined
      : server.sessions.listByUser(user.id, cursorOf(request, 'sessions_after')),
    server.personalTokens.listByUser(user.id, cursorOf(request, 'tokens_after')),
    server.clients.ofOwner(user.id, cursorOf(request, 'clients_after')),
    server.authorizedApplications.listByUser(user.id, cursorOf(request, 'authorized_after')),
  ])
  const notice = await showNotice(request)
  const view = {
    action: addressWith(http.path, http.query),
    user: userItem(user, ui),
    isOwn: user.id === signedIn.user.id,
    canSetActive: server.users.canSetActive,
    sessions:
      sessions === undefined
        ? null
        : listed(request, 'sessions_after', sessions, (session) => ({
            browser: deviceName(session.userAgent),
            address: session.address,
            createdAt: session.createdAt,
            lastSeenAt: session.lastSeenAt,
          })),
    tokens: listed(request, 'tokens_after', tokens, ({ token, name, lastUse }) => ({
      id: token.id,
      name,
      scopes: token.getVisibleScopes(),
      createdAt: token.createdAt,
      expires: token.expires,
      lastUsedAt: lastUse?.at ?? null,
      lastUsedAddress: lastUse?.address ?? null,
    })),
    clients: listed(request, 'clients_after', clients, ({ client }) =>
      applicationItem(client, client.createdAt, request),
    ),
    authorized: listed(request, 'authorized_after', authorized, ({ client, grantedAt }) =>
      applicationItem(client, grantedAt, request),
    ),
    activity: `${ui.links.adminActivity}?${new URLSearchParams({ user: String(user.id) })}`,
    done: notice.done,
    problem: refused?.problem,
  }
  const json = () =>
    ({
      user: userToWire(user),
      sessions: (sessions?.items ?? []).map((one) => sessionToWire(one, signedIn.sessionId)),
      personal_tokens: tokens.items.map(personalTokenToWire),
      clients: clients.items.map(({ client, users }) => clientToWire(client, users, server)),
      authorized: authorized.items.map((item) => authorizedToWire(item, server)),
      next: {
        sessions: view.sessions?.next ?? null,
        personal_tokens: view.tokens.next,
        clients: view.clients.next,
        authorized: view.authorized.next,
      },
    }) satisfies Readonly<Record<keyof z.output<typeof userDetails>, unknown>>
  return respond(request, 'adminUser', { view, json, refused, notice })
}

const applicationItem = (
  { clientId, name, isDisabled }: Client,
  createdAt: number | null,
  { server }: SettingsRequest,
): UserApplicationItem => ({
  href: addresses(server.ui.links).adminApplication(clientId),
  clientId,
  name,
  isDisabled,
  createdAt,
})

const act = async (user: User, request: SettingsRequest, params: Parameters): Promise<string> => {
  const { server, signedIn, texts, http } = request
  const name = userActs.find((known) => known === params.optional('act'))
  const isOwn = user.id === signedIn.user.id
  const shown = shownEmail(user.email) || String(user.id)
  if (name === 'end_tokens') {
    await server.administration.endAllAccess(user)
    return isOwn ? texts.done.ownTokensEnded : texts.done.userTokensEnded(shown)
  }
  if (name === 'log_out') {
    if (isOwn) await server.sessions.endOthers(signedIn)
    else await server.sessions.endAll(user)
    return isOwn ? texts.done.otherSessionsEnded : texts.done.loggedOut(shown)
  }
  if (name === 'delete_token') {
    const id = asTokenId(params.required('token_id'))
    const managed = await server.personalTokens.find(user.id, id)
    if (!managed) throw notFound()
    const actor = { user: signedIn.user, address: http.address }
    await server.administration.deleteToken(id, actor)
    return texts.done.tokenDeleted(managed.name)
  }
  if (name !== 'deactivate' && name !== 'activate')
    throw new InvalidField('act', `act must be one of ${userActs.join(', ')}.`)
  // Administrators who deactivated their own account could not activate it again.
  if (isOwn)
    throw new InvalidField('act', 'Administrators cannot deactivate their own account.', {
      problem: 'ownAccount',
    })
  if (!server.users.canSetActive)
    throw new InvalidField('act', 'The application manages its users.', {
      problem: 'usersElsewhere',
    })
  const isActive = name === 'activate'
  if (user.active !== isActive) await server.users.setActive(user.id, isActive)
  return isActive ? texts.done.userActivated(shown) : texts.done.userDeactivated(shown)
}
