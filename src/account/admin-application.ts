import { countLimit } from '../model/count-limit.ts'
import { addresses } from '../pages/addresses.ts'
import { adminClient, clientForm } from '../pages/shapes/administration.ts'
import { done } from '../pages/shapes/shape.ts'
import { either, inPath } from '../protocol/openapi/schema.ts'
import { identityDigest, verifiedIdentity } from '../records/clients/verified-identity.ts'
import { actOnClient, anyClient } from './admin-acts.ts'
import { adminClientItem } from './admin-applications.ts'
import { backIn } from './arranged-list.ts'
import { showNotice } from './notice.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { adminClientToWire } from './wire.ts'

/** Shows and manages one application for administrators. */
export const adminApplicationPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/applications/:client_id/`,
  audience: 'admin',
  operations: () => ({
    parameters: [inPath('client_id', 'The ID of a client.')],
    get: {
      operationId: 'getApplication',
      summary: 'Returns an application for administrators',
      answer: 'The application.',
      view: adminClient,
    },
    post: {
      operationId: 'administerApplication',
      summary: 'Verifies, disables or deletes an application, or revokes its tokens',
      answer: 'The changed application, or an empty object after a deletion.',
      view: either(adminClient, done),
    },
  }),
  show: showApplication,
  form: clientForm,
  async change(request, params) {
    const { http, server } = request
    const clientId = http.param('client_id')
    const done = await actOnClient(clientId, request, params)
    const client = await server.clients.find(clientId)
    if (!client) return { location: `${listOf(request)}#list`, notice: { done } }
    const users = await client.getUsers(countLimit)
    return {
      location: here(request),
      notice: { done },
      json: adminClientToWire({ client, users }, server),
    }
  },
})

async function showApplication(request: SettingsRequest, refused?: Refused): Promise<Response> {
  const { http, server } = request
  const { links } = server.ui
  const client = await anyClient(http.param('client_id'), request)
  const { clientId, owner } = client
  const users = await client.getUsers(countLimit)
  const refusals = await server.refusals.list(clientId)
  const logo = (await server.logos.states([client])).get(clientId)
  const notice = await showNotice(request)
  const { description, website, terms, privacy, logoUri, redirectUris, postLogoutRedirectUris } =
    verifiedIdentity(client)
  const view = {
    action: here(request),
    list: `${listOf(request)}#list`,
    client: adminClientItem({ client, users }, request),
    seen: identityDigest(client),
    description,
    website,
    terms,
    privacy,
    redirectUris,
    postLogoutRedirectUris,
    defaultResource: client.defaultResource,
    resources: server.resources.map(({ resource }) => resource),
    logo: {
      uri: logoUri === '' ? null : logoUri,
      isRequested: logo?.isRequested ?? false,
      problem: logo?.problem ?? null,
    },
    refusals,
    ownerHref: owner === null ? null : addresses(server.ui.links).adminUser(owner.id),
    tokens: `${links.adminTokens}?${new URLSearchParams({ token: clientId })}`,
    activity: `${links.adminActivity}?${new URLSearchParams({ client: clientId })}`,
    done: notice.done,
    problem: refused?.problem,
    isNotDeleted: refused?.params.repeated('act')[0] === 'delete',
  }
  const json = () => adminClientToWire({ client, users }, server)
  return respond(request, 'adminApplication', { view, json, refused, notice })
}

const backOf = ({ http }: SettingsRequest): string =>
  backIn(http.queryParameters().repeated('back')[0])

const listOf = (request: SettingsRequest): string =>
  `${request.server.ui.links.adminApplications}${backOf(request)}`

const here = (request: SettingsRequest): string => {
  const { http, server } = request
  const back = backOf(request)
  const query = back === '' ? '' : `?${new URLSearchParams({ back })}`
  return `${addresses(server.ui.links).adminApplication(http.param('client_id'))}${query}`
}
