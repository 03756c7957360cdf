import type { Furniture } from '../support/observed-furniture.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { FuzzRequest } from './requests.ts'
import { pairsOf, shapeOf } from './seeds.ts'
import { type Ending, sendAlone } from './sender.ts'
import { wireOf } from './shape.ts'

/** More passwords at once than wait to be hashed at most. */
const logins = 260
/** Milliseconds: they wait for each other. */
const patience = 90_000

/**
 * Overloads the hashing of passwords on purpose: whom it cannot take is told so by 503 with the time to try
 * again, and nothing else may be answered so.
 * @returns how many were answered with which status, and how many 503 had no time
 */
export const overload = async (port: number, furniture: Furniture) => {
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
      return sendAlone(port, request, patience)
    }),
  )
  const statuses: Record<string, number> = {}
  for (const { status } of endings) statuses[status] = (statuses[status] ?? 0) + 1
  const untimed = endings.filter(
    ({ status, retryAfter }) => status === 503 && !/^\d+$/.test(retryAfter ?? ''),
  ).length
  return { statuses, untimed }
}
