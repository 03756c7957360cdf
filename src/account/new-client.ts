import { addresses } from '../pages/addresses.ts'
import { newClient } from '../pages/shapes/clients.ts'
import { clientFields, emptyClient, typedClient } from './client-form.ts'
import { isTyped, respond, settingsPage } from './settings-page.ts'
import { clientToWire, scopeToWire } from './wire.ts'

/** Registers a client application of the user. */
export const newClientPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/new/`,
  async show(request, refused) {
    const { server } = request
    const to = addresses(server.ui.links)
    const scopes = server.scopes.choices()
    const view = {
      action: to.newClient,
      back: to.clients,
      values: isTyped(refused)
        ? typedClient(refused.params, server.settings)
        : emptyClient(server.settings),
      scopes,
      problem: refused?.problem,
    }
    return respond(request, 'newClient', {
      view,
      json: () => ({ scopes: scopes.map((scope) => scopeToWire(scope, request)) }),
      refused,
    })
  },
  form: newClient,
  keepsDraft: true,
  async change(request, params) {
    const { server, signedIn, texts } = request
    const fields = { ...clientFields(params, request), userId: signedIn.user.id }
    const most = server.settings.clientsPerUser
    const { client, clientSecret: secret } = await server.clients.create(fields, undefined, {
      most,
    })
    return {
      location: addresses(server.ui.links).client(client.clientId),
      notice: { done: texts.done.clientCreated, ...(secret && { secret }) },
      once: texts.client.secretOnce,
      json: { ...clientToWire(client, 0, server), ...(secret && { client_secret: secret }) },
      status: 201,
    }
  },
})
