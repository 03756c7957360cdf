import type { TestData } from '../support/observed-test-data.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { FuzzRequest } from './requests.ts'
import { pairsOf, shapeOf } from './seeds.ts'
import { type Ending, sendAlone } from './sender.ts'
import { wireOf } from './shape.ts'

/** The number of concurrent logins: more than the queue of password hashes accepts. */
const logins = 260
/** The timeout of a login in milliseconds. It is long, because the server hashes few passwords at a time. */
const timeout = 90_000

/**
 * Sends more passwords than the server can queue for hashing. Requests beyond this capacity must get 503 with
 * Retry-After.
 * @returns the number of responses by status, and the number of 503 responses without Retry-After
 */
export const overload = async (port: number, testData: TestData) => {
  const endings: Ending[] = await Promise.all(
    Array.from({ length: logins }, (_, number) => {
      const random = seededRandom(0, number)
      const shape = shapeOf(random, {
        endpoint: 'token: password',
        method: 'POST',
        path: '/oauth/token',
        headers: {
          authorization: `Basic ${btoa(`${testData.confidential.id}:${testData.confidential.secret}`)}`,
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
  const withoutRetryAfter = endings.filter(
    ({ status, retryAfter }) => status === 503 && !/^\d+$/.test(retryAfter ?? ''),
  ).length
  return { statuses, withoutRetryAfter }
}
