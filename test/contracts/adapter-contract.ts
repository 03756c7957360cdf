import { afterAll, beforeAll, describe } from 'vitest'
import { describeFlow } from './adapter/flow.ts'
import { describeForms } from './adapter/forms.ts'
import type { Embedded } from './adapter/harness.ts'
import { describeHttp } from './adapter/http.ts'
import { describeReference } from './adapter/reference.ts'
import { describeSessions } from './adapter/sessions.ts'
import { describeTokens } from './adapter/tokens.ts'
import { World } from './adapter/world.ts'

/**
 * Defines the tests that every application with the server must pass, with any adapter. The application serves `GET`
 * and `POST /api/notes`, `/api/me`, `/api/public` and the page `/` of the notes application.
 */
export const adapterContract = (title: string, embed: () => Promise<Embedded>): void => {
  describe(title, () => {
    let app: Embedded | undefined
    let prepared: World | undefined
    beforeAll(async () => {
      app = await embed()
      prepared = await World.of(app)
    })
    afterAll(() => app?.[Symbol.asyncDispose]())
    const world = (): World => {
      if (!prepared) throw new Error('The application did not start.')
      return prepared
    }
    describeTokens(world)
    describeSessions(world)
    describeFlow(world)
    describeForms(world)
    describeHttp(world)
    describeReference(world)
  })
}
