/* A challenge lists every scope that an operation requires, so that a client requests consent only once (RFC 6750 §3).
 * The first guard that refuses a request therefore needs the scopes of later guards. Each guard declares its scopes,
 * and each adapter collects the declared scopes of all guards on the route.
 */

const asked = new WeakMap<object, readonly string[]>()

/** Declares the scopes that a step of a route (a guard, other middleware or a handler) requires. Returns the step. */
export const asking = <Step extends object>(step: Step, scopes: readonly string[]): Step => {
  asked.set(step, [...new Set([...askedBy([step]), ...scopes])])
  return step
}

/** Returns the scopes that the steps of a route have declared, without duplicates. */
export const askedBy = (steps: readonly unknown[]): readonly string[] => [
  ...new Set(steps.flatMap((step) => (isObject(step) && asked.get(step)) || [])),
]

const isObject = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null)

/** Returns the scopes of all guards on the route of a request. Some frameworks reveal only a part of the route. */
export type LookAhead = () => readonly string[]
