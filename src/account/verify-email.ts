import { sendLink } from '../protocol/endpoints/user-links/send-link.ts'
import { sessionsPage } from './sessions.ts'
import { settingsPage } from './settings-page.ts'

/** Sends a link with which the user verifies the e-mail address. */
export const verifyEmailPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/verify-email/`,
  operations: () => ({
    post: {
      operationId: 'requestEmailVerification',
      summary: 'Sends the user a link that verifies the e-mail address',
    },
  }),
  isShown: false,
  show: sessionsPage.show,
  tooMany: ({ userLinks }) => userLinks.tooMany,
  async change({ http, server, signedIn, reader, texts }, params) {
    const location = server.ui.links.sessions ?? ''
    const { email } = signedIn.user
    const browser = params.optional('csrf_token')
    const link = { purpose: 'verify_email', email, next: location, browser } as const
    await sendLink({ ...link, language: reader.language }, http, server)
    return { location, notice: { done: texts.done.linkSent(email) } }
  },
})
