import { InvalidField } from '../model/invalid-field.ts'
import { undo as undoShape } from '../pages/shapes/applications.ts'
import { backIn } from './arranged-list.ts'
import { personalTokensPage } from './personal-tokens.ts'
import { settingsPage } from './settings-page.ts'

/** Restores personal tokens that the user deleted a few seconds ago. */
export const undoPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/applications/tokens/undo/`,
  operations: () => ({
    post: {
      operationId: 'restorePersonalTokens',
      summary: 'Restores personal tokens that were deleted in the last ten seconds',
    },
  }),
  isShown: false,
  show: personalTokensPage.show,
  form: undoShape,
  async change({ server, signedIn, texts }, params) {
    const { personalTokensPerUser: most } = server.settings
    const undo = params.optional('undo') ?? ''
    const restored = await server.endedTokens.restore(signedIn.user.id, undo, most)
    if (restored === 0)
      throw new InvalidField('undo', 'It is too late to undo the deletion.', {
        problem: 'undoTooLate',
      })
    return {
      location: `${server.ui.links.tokens}${backIn(params.optional('back'))}`,
      notice: { done: texts.done.tokensRestored(restored) },
    }
  },
})
