import { setTimeout as pause } from 'node:timers/promises'
import type { SentForm } from './form.ts'
import type { Changed } from './notice.ts'
import { leaveNotice } from './notice.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Milliseconds in which the same form from the same session counts as the same request. */
const memory = 600_000
/** The same for a form without the one-time ID of the pages, in which only a double click is expected. */
const briefMemory = 2_000
/** Milliseconds after which a form that is still being processed counts as abandoned. */
const atWork = 15_000
const patience = 5_000

/** The result of a form. */
export interface Done {
  /** Where the browser goes next. */
  readonly location: string
  /** The change, if its notice has a secret and could not be kept: this answer is the only one that can show it. */
  readonly unkept?: Changed
}

/**
 * Does the work of a form once, even if the form is sent twice: a double click, or a reload. The second request
 * goes where the first one went.
 * @returns undefined while the first one is still at work
 */
export const idempotent = async (
  request: SettingsRequest,
  form: SentForm,
  work: () => Promise<Changed>,
): Promise<Done | undefined> => {
  const { http, server, signedIn } = request
  const { params, text } = form
  const name = `${signedIn.sessionId} ${http.path} ${text}`
  const { clock } = server
  const { forms } = server.shortLived
  if (!(await forms.claim(name, { location: null }, clock() + atWork))) {
    for (let waited = 0; waited < patience; waited += 50) {
      const outcome = await forms.get(name)
      if (outcome?.location) return { location: outcome.location }
      // The first request was refused and forgotten, so process this one as new.
      if (!outcome) return idempotent(request, form, work)
      await pause(50)
    }
    return undefined
  }
  const changed = await work().catch(async (error: unknown) => {
    await forms.delete(name)
    throw error
  })
  // The work is committed: from here on nothing may fail the request. If a write below fails, the claim stays.
  const { location, notice } = changed
  const isKept = await succeeds(leaveNotice(request, location, notice))
  const hasId = params.repeated('form_id').length > 0
  await succeeds(forms.set(name, { location }, clock() + (hasId ? memory : briefMemory)))
  return { location, ...(!isKept && notice?.secret !== undefined && { unkept: changed }) }
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )
