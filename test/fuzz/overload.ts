import type { TestData } from '../support/observed-furniture.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { FuzzRequest } from './requests.ts'
import { pairsOf, shapeOf } from './seeds.ts'
import { type Ending, sendAlone } from './sender.ts'
import { wireOf } from './shape.ts'

/** The number of concurrent logins: more than the queue of password hashes accepts. */
const logins = 260
/** The timeout of a login in milliseconds. The logins wait for each other. */
const timeout = 90_000

/**
 * Overloads the hashing of passwords on purpose: requests beyond its capacity must get 503 with Retry-After, and no
 * other request may get 503.
 * @returns the number of responses by status, and of 503 responses without Retry-After
 */
export const overload = async (port: number, furniture: TestData) => {
  const endings: Ending[] = await Promise.all(
    Array.from({ length: logins }, (_, number) => {
      const random = seededRandom(0, number)
      const shape = shapeOf(random, {
        endpoint: 'token: password',
        method: 'POST',
        path: '/oauth/token',
        headers: {
          authorization: `Basic ${btoa(`${furniture.confidential.id}:${furniture.confidential.secret}`)}`,
        },
        body: {
          kind: 'form',
          pairs: pairsOf({
            grant_type: 'password',
            username: `nobody${number}@example.org`,
            password: 'x',
          }),
        },
      })
      const request: FuzzRequest = {
        number,
        endpoint: shape.endpoint,
        kind: 'overload',
        bytes: wireOf(shape),
        isHead: false,
        isAlone: true,
        leaves: false,
      }
      return sendAlone(port, request, timeout)
    }),
  )
  const statuses: Record<string, number> = {}
  for (const { status } of endings) statuses[status] = (statuses[status] ?? 0) + 1
  const untimed = endings.filter(
    ({ status, retryAfter }) => status === 503 && !/^\d+$/.test(retryAfter ?? ''),
  ).length
  return { statuses, untimed }
}
