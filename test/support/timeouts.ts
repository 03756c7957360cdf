import { vi } from 'vitest'

// vitest waits one second by default, and has no setting for it. A busy machine needs longer for a password hash.
const milliseconds = 60_000
const replaced = Symbol.for('svc-oauth2server waits longer than a second')
// Test files share a process, so replace the function only once.
if (!(replaced in vi)) {
  const { waitFor } = vi
  const longer: typeof waitFor = (callback, options = milliseconds) =>
    waitFor(callback, typeof options === 'number' ? options : { timeout: milliseconds, ...options })
  Object.assign(vi, { [replaced]: true, waitFor: longer })
}
