import { addresses } from '../pages/addresses.ts'
import { newClient, newClientForm } from '../pages/forms/client.ts'
import { clientChoices, clientWithSecret } from '../pages/shapes/clients.ts'
import { component } from '../pages/shapes/shape.ts'
import { clientFields, shownFields } from './client-form.ts'
import { resource } from './resource.ts'
import { isTyped } from './settings-page.ts'
import { clientToWire, scopeToWire } from './wire.ts'

/** Registers a client application of the user. */
export const newClientPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/new/`,
  operations: (server) => ({
    get: {
      operationId: 'getClientChoices',
      summary: 'Returns the scopes that a new client application can use',
      answer: 'The scopes, in the language of the user.',
    },
    post: {
      operationId: 'createClient',
      summary: 'Registers a client application',
      form: component('NewClient', shownFields(newClient, server)),
      status: 201,
      answer: 'The client with its secret.',
      view: clientWithSecret,
    },
  }),
  page: 'newClient',
  view: clientChoices,
  async read(request, refused) {
    const { server } = request
    const choices = server.scopes.choices()
    return {
      view: { scopes: choices.map((scope) => scopeToWire(scope, request)) },
      forPage: () => ({
        values: isTyped(refused) ? newClientForm.typed(refused.params) : newClientForm.blank,
        choices,
        hasLogout: server.settings.openidConnect,
      }),
    }
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
