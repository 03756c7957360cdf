import { expect } from 'vitest'
import { kinds } from './load.ts'
import type { Site } from './site.ts'
import {
  figures,
  type HeldCredentials,
  isPostponed,
  recoveryLimit,
  type Sample,
  settle,
  succeeded,
} from './traffic.ts'

/** Settings with which a client can still retry a refresh or a redemption after the longest fault. */
export const longLeeway: Readonly<Record<string, string>> = {
  OAUTH2SERVER_REFRESH_TOKEN_LEEWAY: '600',
  OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN: '600',
  // All authorizations belong to one user. A lower limit would revoke some of them.
  OAUTH2SERVER_AUTHORIZATIONS_PER_APPLICATION: '100000',
}

/**
 * Checks the guarantees after a fault: no valid token is rejected, no code is redeemed twice, and a failed request
 * returns 503. Five seconds after the fault, no request fails.
 * @param allowed the failures besides 503 that this fault may cause
 */
export const expectTolerated = async (
  site: Site,
  what: string,
  samples: readonly Sample[],
  aftermath: HeldCredentials,
  recovered: number,
  allowed: (sample: Sample) => boolean = () => false,
): Promise<void> => {
  const happened = figures(samples, recovered)
  const settled = await settle(site, aftermath)
  console.log(`${what}:`, happened, settled)
  const wrong = samples.filter(
    (sample) => !succeeded(sample) && !isPostponed(sample) && !allowed(sample),
  )
  expect(kinds(wrong)).toEqual({})
  expect(happened.kinds).not.toHaveProperty('hang')
  expect(happened.recovery).toBeLessThanOrEqual(recoveryLimit)
  expect(settled.tokens).toEqual({ 200: aftermath.tokens.length })
  expect(settled.families).toBe(settled.redeemed)
  expect(settled.doubled).toBe(0)
  expect(Object.keys(settled.again)).toEqual(['400 invalid_grant'])
  for (const kind of Object.keys(settled.retried))
    expect(['unspent: 200 ok', 'spent: 400 invalid_grant']).toContain(kind)
}
