/* A challenge names every scope that an operation requires, so that a client asks its user only once (RFC 6750 §3). The
 * first guard that refuses therefore needs the scopes of the guards after it: each guard declares its scopes, and every
 * adapter reads those along the route.
 */

const asked = new WeakMap<object, readonly string[]>()

/** Declares the scopes that a step of a route requires. */
export const asking = <Step extends object>(step: Step, scopes: readonly string[]): Step => {
  asked.set(step, [...new Set([...askedBy([step]), ...scopes])])
  return step
}

/** Returns the scopes that the steps of a route declare, without duplicates. */
export const askedBy = (steps: readonly unknown[]): readonly string[] => [
  ...new Set(steps.flatMap((step) => (isObject(step) && asked.get(step)) || [])),
]

const isObject = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null)

/** Returns the scopes of the guards on the route of a request, as far as the framework reveals them. */
export type LookAhead = () => readonly string[]
