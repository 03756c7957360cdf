import { sha256 } from '../../../crypto/digest.ts'
import { addressWith } from '../../../http/addresses.ts'
import type { Client } from '../../../model/client.ts'
import { InvalidField } from '../../../model/invalid-field.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { Refusal } from '../../../model/refusal.ts'
import type { AdminClientItem, AdminTokenItem } from '../../../pages/models/admin.ts'
import type { ListedClient } from '../../../records/clients/client-input.ts'
import { type LogoState, logoUriOf } from '../../../records/clients/client-logos.ts'
import type { TokenWithNames } from '../../../store/contract/tokens.ts'
import { administrationForm, clientActs } from '../../openapi/schemas/administration.ts'
import type { ServerContext } from '../../server-context.ts'
import { logoUrlOf } from '../assets/client-logo.ts'
import { notFound } from '../responses/problem.ts'
import { redirectResponse } from '../responses/responses.ts'
import { asTokenId } from './addresses.ts'
import { checkConfirmation } from './client.ts'
import { cursorOf, listed } from './list-page.ts'
import type { Changed } from './notice.ts'
import { leaveNotice, takeNotice } from './notice.ts'
import { refusedClients } from './refused-clients.ts'
import { looksLikeSecret, searched, searchedIn } from './search.ts'
import { respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { adminClientToWire, adminTokenToWire } from './wire.ts'

/** @throws OAuthError 404 if the user is not an administrator */
export const checkAdmin = ({ signedIn }: SettingsRequest): void => {
  if (!signedIn.user.isAdmin) throw notFound()
}

/** Lists all applications and tokens for administrators. */
export const adminPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/applications/`,
  async show(request, refused) {
    checkAdmin(request)
    const { http, server, texts } = request
    const { administration } = server
    const search = { client: searchedIn(request, 'client'), token: searchedIn(request, 'token') }
    const { links } = server.ui
    if (
      !request.asJson &&
      looksLikeSecret(search.token) &&
      !(await isClient(search.token, request))
    ) {
      // A bookmark may contain a token. Do not repeat it in links, and do not say that there is no such token.
      await leaveNotice(request, links.admin, { problem: 'looksLikeSecret' })
      return redirectResponse(links.admin)
    }
    await server.operations.flushTokenUses()
    const [clients, tokens] = await Promise.all([
      administration.clients(search.client, cursorOf(request, 'clients_after')),
      administration.tokens(search.token, cursorOf(request, 'tokens_after')),
    ])
    const refusals = await server.refusals.listMany(
      clients.items.map(({ client }) => client.clientId),
    )
    const logos = await server.logos.states(clients.items.map(({ client }) => client))
    const mostRefused = http.query === '' ? await refusedClients(request) : []
    const notice = await takeNotice(request)
    const view = {
      action: server.ui.links.admin,
      actAction: here(request),
      search,
      resources: server.resources.map(({ resource }) => resource),
      mostRefused,
      clients: listed(request, 'clients_after', clients, (item) =>
        clientItem(
          item,
          {
            refusals: refusals[clients.items.indexOf(item)] ?? [],
            logo: logos.get(item.client.clientId),
          },
          server,
        ),
      ),
      tokens: listed(request, 'tokens_after', tokens, tokenItem),
      done: notice.done,
      actedOn: notice.list ?? 'clients',
      notDeleted: refused && notDeletedIn(refused.params),
      problem: refused?.problem ?? (notice.problem && { sentence: texts.problems[notice.problem] }),
    }
    const json = () => ({
      clients: clients.items.map((item) => adminClientToWire(item, server)),
      tokens: tokens.items.map(adminTokenToWire),
      next: { clients: view.clients.next, tokens: view.tokens.next },
    })
    return respond(request, 'admin', { view, json, refused })
  },
  form: administrationForm,
  async change(request, params) {
    checkAdmin(request)
    if (params.repeated('search').length > 0) return find(request, params)
    return params.optional('token_id') === undefined
      ? actOnClient(request, params)
      : deleteToken(request, params)
  },
})

const find = (request: SettingsRequest, params: Parameters): Promise<Changed> => {
  const { links } = request.server.ui
  const place = params.repeated('search')[0] === 'token' ? '#tokens' : '#clients'
  return searched(request, params, {
    names: ['client', 'token'],
    location: (fields) => `${links.admin}${fields.size === 0 ? '' : `?${fields}`}${place}`,
    isKnown: (text) => isClient(text, request),
  })
}

const isClient = async (clientId: string, { server }: SettingsRequest): Promise<boolean> =>
  (await server.clients.find(clientId)) !== undefined

// An act returns to the search and the page of the list from which it was sent.
const here = ({ http }: SettingsRequest): string => addressWith(http.path, http.query)

const actOnClient = async (request: SettingsRequest, params: Parameters): Promise<Changed> => {
  const { http, server, signedIn, texts } = request
  const act = actIn(params)
  const client = await server.clients.find(params.optional('client_id') ?? '')
  if (!client || client.isPersonal) throw notFound()
  if (act === 'delete') checkConfirmation(params, client)
  const seen = params.optional('seen')
  if ((act === 'verify' || act === 'pin') && seen !== undefined && seen !== seenOf(client)) {
    throw new InvalidField('act', 'The application has changed since the page was loaded.', {
      problem: 'changedMeanwhile',
    })
  }
  const actor = { user: signedIn.user, address: http.address }
  if (act === 'set_default_resource') {
    const resource = params.optional('default_resource') ?? null
    await server.administration.setDefaultResource(client.clientId, resource, actor)
  } else await server.administration.actOnClient(client.clientId, act, actor)
  const { done } = texts
  const sentence = {
    verify: done.clientVerified,
    unverify: done.clientUnverified,
    fetch_logo: done.logoRequested,
    disable: done.clientDisabled,
    enable: done.clientEnabled,
    pin: done.clientPinned,
    unpin: done.clientUnpinned,
    set_default_resource: done.defaultResourceChanged,
    delete: done.clientDeleted,
  }[act](client.name)
  return { location: `${here(request)}#clients`, notice: { done: sentence, list: 'clients' } }
}

const deleteToken = async (request: SettingsRequest, params: Parameters): Promise<Changed> => {
  const { http, server, signedIn, texts } = request
  const id = asTokenId(params.required('token_id'))
  const found = await server.tokens.get(id)
  if (!found) throw notFound()
  if (actIn(params) !== 'delete') throw new InvalidField('act', 'act must be delete for a token.')
  const client = await server.clients.find(found.clientId)
  await server.administration.deleteToken(id, { user: signedIn.user, address: http.address })
  const name = client?.name ?? String(id)
  const sentence = texts.done.tokenDeleted(name)
  return { location: `${here(request)}#tokens`, notice: { done: sentence, list: 'tokens' } }
}

const notDeletedIn = (params: Parameters): string | undefined =>
  params.repeated('act')[0] === 'delete' ? params.repeated('client_id')[0] : undefined

const actIn = (params: Parameters): (typeof clientActs)[number] => {
  const act = clientActs.find((known) => known === params.optional('act'))
  if (!act) throw new InvalidField('act', `act must be one of ${clientActs.join(', ')}.`)
  return act
}

// Returns a digest of the fields that the page shows, to detect changes before the administrator vouches for the client.
const seenOf = (client: Client): string => {
  const { name, description, website, redirectUris, userId } = client
  return sha256(
    JSON.stringify([name, description, website, redirectUris, userId, logoUriOf(client)]),
  )
}

/** The data of a client that other tables contain. */
interface Further {
  readonly refusals: readonly Refusal[]
  readonly logo: LogoState | undefined
}

const clientItem = (
  { client, users }: ListedClient,
  { refusals, logo }: Further,
  server: ServerContext,
): AdminClientItem => ({
  refusals,
  logo: {
    uri: logoUriOf(client) ?? null,
    src: logoUrlOf(client, server),
    isRequested: logo?.isRequested ?? false,
    problem: logo?.problem ?? null,
  },
  seen: seenOf(client),
  clientId: client.clientId,
  name: client.name,
  owner: client.owner?.email ?? null,
  website: client.website,
  redirectUris: client.redirectUris,
  isConfidential: client.isConfidential,
  isVerified: client.isVerified,
  isDisabled: client.isDisabled,
  isPinned: client.isPinned,
  defaultResource: client.defaultResource,
  origin: client.origin,
  createdAt: client.createdAt,
  users,
})

const tokenItem = ({ fields, clientName, userEmail, lastUse }: TokenWithNames): AdminTokenItem => ({
  id: fields.id,
  name: clientName,
  clientId: fields.clientId,
  isPersonal: fields.isPersonal,
  user: userEmail,
  scopes: fields.scopes,
  createdAt: fields.createdAt,
  expires: fields.expires,
  lastUsedAt: lastUse?.at ?? null,
})
