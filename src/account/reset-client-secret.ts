import { countLimit } from '../model/count-limit.ts'
import { InvalidField } from '../model/invalid-field.ts'
import { addresses } from '../pages/addresses.ts'
import { clientWithSecret, overlapForm } from '../pages/shapes/clients.ts'
import { secondsIn } from '../protocol/endpoints/forms/form.ts'
import { clientPage, ofClient, ownClient } from './client.ts'
import { settingsPage } from './settings-page.ts'
import { clientToWire } from './wire.ts'

/** Resets the secret of a client. The former secret remains valid for a time that the user chooses. */
export const resetClientSecretPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/clients/:client_id/reset/`,
  operations: () => ({
    parameters: ofClient,
    post: {
      operationId: 'resetClientSecret',
      summary: 'Replaces the secret of a confidential client',
      isBodyOptional: true,
      answer: 'The client with its new secret.',
      view: clientWithSecret,
    },
  }),
  isShown: false,
  show: clientPage.show,
  form: overlapForm,
  async change(request, params) {
    const { server, texts } = request
    const before = await ownClient(request)
    const { clientId } = before
    if (!before.isConfidential)
      throw new InvalidField('client_secret', 'A public client has no secret.')
    const overlap = secondsIn(params, 'overlap')
    // Read all values before the secret changes: if a later read failed, nobody would see the new secret.
    const users = await before.getUsers(countLimit)
    const { client, clientSecret } = await server.clients.resetClientSecret(clientId, { overlap })
    return {
      location: addresses(server.ui.links).client(clientId),
      notice: { done: texts.done.secretReset, secret: clientSecret },
      once: texts.client.secretOnce,
      json: {
        ...clientToWire(client, users, server),
        client_secret: clientSecret,
      },
    }
  },
})
