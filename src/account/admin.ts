import type { z } from 'zod'
import { overview } from '../pages/shapes/administration.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { refusedClients } from './refused-clients.ts'
import { respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { refusedClientToWire } from './wire.ts'

/** Verifies that the user is an administrator. @throws OAuthError 404 for other users */
export const checkAdmin = ({ signedIn }: SettingsRequest): void => {
  if (!signedIn.user.isAdmin) throw notFound()
}

/** Shows the overview of the administration. */
export const adminPage = settingsPage({
  path: ({ adminPrefix }) => `${adminPrefix}/overview/`,
  operations: () => ({
    get: {
      operationId: 'getAdministration',
      summary: 'Lists the applications that were refused most, for administrators',
      answer: 'The applications.',
      view: overview,
    },
  }),
  async show(request) {
    checkAdmin(request)
    const mostRefused = await refusedClients(request)
    const json = () =>
      ({ refused: mostRefused.map(refusedClientToWire) }) satisfies Readonly<
        Record<keyof z.output<typeof overview>, unknown>
      >
    return respond(request, 'admin', { view: { mostRefused }, json })
  },
})
