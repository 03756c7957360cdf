/*
 * A challenge names every scope that an operation needs, so that a client asks its user once (RFC 6750 §3). Guards
 * are steps of their own, and the first that refuses has to know of those that stand behind it: each says what it
 * asks for, and every adapter looks along its route.
 */

const asked = new WeakMap<object, readonly string[]>()

/** Notes which scopes a step of a route asks for. */
export const asking = <Step extends object>(step: Step, scopes: readonly string[]): Step => {
  asked.set(step, [...new Set([...askedBy([step]), ...scopes])])
  return step
}

/** The scopes that the steps of a route ask for, each once, as far as their steps are ours. */
export const askedBy = (steps: readonly unknown[]): readonly string[] => [
  ...new Set(steps.flatMap((step) => (isObject(step) && asked.get(step)) || [])),
]

const isObject = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null)

/** The scopes of the guards of a request's route, as far as they are known beforehand. */
export type LookAhead = () => readonly string[]
