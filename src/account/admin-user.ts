import { addressWith } from '../http/request-target.ts'
import { shownEmail } from '../model/email-address.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import type { User } from '../model/user.ts'
import { userIdIn } from '../model/user-id.ts'
import { userActs, userDetails, userForm, user as userShape } from '../pages/shapes/users.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { inPath } from '../protocol/openapi/schema.ts'
import { cursorOf, listed } from './list-page.ts'
import type { Changed } from './notice.ts'
import { after } from './page-operations.ts'
import { resource } from './resource.ts'
import { asTokenId, type SettingsRequest } from './settings-request.ts'
import {
  authorizedToWire,
  clientToWire,
  personalTokenToWire,
  sessionToWire,
  userToWire,
} from './wire.ts'

/** Shows and manages one user for administrators. */
export const adminUserPage = resource({
  path: ({ adminPrefix }) => `${adminPrefix}/users/:id/`,
  operations: () => ({
    parameters: [inPath('id', 'The ID of the user.')],
    get: {
      operationId: 'getUser',
      summary: 'Returns a user with sessions, tokens and applications for administrators',
      answer: 'The user.',
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
  audience: 'admin',
  page: 'adminUser',
  view: userDetails,
  async read(request) {
    const user = await userOf(request)
    const { http, server, signedIn } = request
    await server.operations.flushTokenUses()
    const lists = await listsOf(user, request)
    const { sessions, personal_tokens, clients, authorized } = lists
    const ofEach = (link: 'next' | 'first') => ({
      sessions: sessions[link],
      personal_tokens: personal_tokens[link],
      clients: clients[link],
      authorized: authorized[link],
    })
    return {
      view: {
        user: userToWire(user),
        sessions: sessions.items,
        personal_tokens: personal_tokens.items,
        clients: clients.items,
        authorized: authorized.items,
        next: ofEach('next'),
      },
      forPage: () => ({
        first: ofEach('first'),
        action: addressWith(http.path, http.query),
        isOwn: user.id === signedIn.user.id,
        canSetActive: server.users.canSetActive,
      }),
    }
  },
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

/** Reads a page of each list of the user. */
const listsOf = async ({ id }: User, request: SettingsRequest) => {
  const { server, signedIn } = request
  const [sessions, tokens, clients, authorized] = await Promise.all([
    server.ui.links.sessions === null
      ? { items: [], next: null }
      : server.sessions.listByUser(id, cursorOf(request, 'sessions_after')),
    server.personalTokens.listByUser(id, cursorOf(request, 'tokens_after')),
    server.clients.ofOwner(id, cursorOf(request, 'clients_after')),
    server.authorizedApplications.listByUser(id, cursorOf(request, 'authorized_after')),
  ])
  return {
    sessions: listed(request, 'sessions_after', sessions, (session) =>
      sessionToWire(session, signedIn.sessionId),
    ),
    personal_tokens: listed(request, 'tokens_after', tokens, personalTokenToWire),
    clients: listed(request, 'clients_after', clients, ({ client, users }) =>
      clientToWire(client, users, server),
    ),
    authorized: listed(request, 'authorized_after', authorized, (application) => ({
      ...authorizedToWire(application, server),
      is_disabled: application.client.isDisabled,
    })),
  }
}

/** Returns the user in the path. @throws OAuthError 404 if the user is unknown */
const userOf = async (request: SettingsRequest): Promise<User> => {
  const { http, server } = request
  const id = userIdIn(http.param('id'), server.users.keyType)
  const user = id === undefined ? undefined : await server.users.find(id)
  if (!user) throw notFound()
  return user
}

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
