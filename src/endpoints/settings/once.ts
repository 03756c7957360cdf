import { setTimeout as pause } from 'node:timers/promises'
import type { SentForm } from './form.ts'
import type { Visit } from './visit.ts'

/** Milliseconds in which the very same form from the very same session is the same wish. */
const memory = 600_000
/** The same without the one-time id that our pages put into a form: then it is a double click at most. */
const briefMemory = 10_000
const patience = 5_000

/**
 * Does the work of a form that is sent twice once: a double click, or a reload. Whoever comes second is
 * led to where the first one went.
 */
export const once = async (
  visit: Visit,
  form: SentForm,
  work: () => Promise<string>,
): Promise<string> => {
  const { http, server, signedIn } = visit
  const { params, text } = form
  const name = `${signedIn.sessionId} ${http.path} ${text}`
  const now = server.clock()
  const expiresAt = now + (params.repeated('form_id').length > 0 ? memory : briefMemory)
  if (!(await server.forms.claim(name, { location: null }, expiresAt))) {
    for (let waited = 0; waited < patience; waited += 50) {
      const outcome = await server.forms.get(name)
      if (outcome?.location) return outcome.location
      // The first one was refused, and forgotten: this one is judged anew.
      if (!outcome) return once(visit, form, work)
      await pause(50)
    }
    return server.links.applications
  }
  try {
    const location = await work()
    await server.forms.set(name, { location }, expiresAt)
    return location
  } catch (error) {
    await server.forms.delete(name)
    throw error
  }
}
