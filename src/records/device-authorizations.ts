import type { RandomSource } from '../crypto/random.ts'
import { randomString } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { CodeBinding } from '../model/authorization.ts'
import { networkOf } from '../model/network.ts'
import type { UserId } from '../model/user.ts'
import { userCodeAlphabet, userCodeIn, userCodeLength } from '../model/user-code.ts'
import { retryOnCollision } from './context.ts'
import type { ShortLivedKind } from './short-lived-kinds.ts'
import type { TransientValues } from './transient-values.ts'

/** The request of a device, stored under its device code. RFC 8628 §3.1. */
export interface DeviceAuthorization extends CodeBinding {
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** The decision of a user about a device. Only the first of several concurrent decisions is stored. */
export interface DeviceDecision {
  readonly userId: UserId
  readonly allowed: boolean
  /** Null if the user refused, and until the consent is stored. */
  readonly granted: { readonly scopes: readonly string[]; readonly consentId: string } | null
}

/** The lifetime of a device code in seconds. */
export const deviceCodeExpiresIn = 600
/** The initial interval between two polls in seconds. RFC 8628 §3.2. */
export const pollInterval = 5
/** Seconds by which the interval grows after each early poll. RFC 8628 §3.5. */
const slowDown = 5
/**
 * Milliseconds by which a poll may be early, because the duration of requests varies and the clocks of nodes differ.
 */
const tolerance = 500

const deviceCodeSyntax = /^[A-Za-z0-9]{43}$/

/**
 * Returns the time until which an expired code is stored, in milliseconds since the epoch. The server answers polls
 * with `expired_token` while it stores the expired code.
 */
export const keptUntil = ({ expiresAt }: Pick<DeviceAuthorization, 'expiresAt'>): number =>
  expiresAt + deviceCodeExpiresIn * 1000

interface DeviceContext {
  readonly keys: KeyRing
  readonly clock: () => number
  readonly random: RandomSource
  transientValues<T>(kind: ShortLivedKind): TransientValues<T>
}

/** Stores device codes and user codes, from the request of the device to the redemption. */
export const deviceAuthorizations = ({ transientValues, keys, clock, random }: DeviceContext) => {
  const requests = transientValues<DeviceAuthorization>('device_code')
  const decisions = transientValues<DeviceDecision>('device_decision')
  const intervals = transientValues<number>('device_interval')
  const polls = transientValues<true>('device_poll')
  const userCodes = transientValues<string>('user_code')
  const decisionOf = (deviceCode: string): string => `${deviceCode} decision`
  const intervalOf = (deviceCode: string): string => `${deviceCode} interval`
  const pollOf = (deviceCode: string): string => `${deviceCode} poll`

  return {
    /** Stores the request of a device at this IP address, and returns the device code and the user code. */
    async begin(asked: DeviceAuthorization, address: string) {
      const owner = `${networkOf(address)} ${asked.clientId}`
      const deviceCode = await requests.put(asked, keptUntil(asked), owner)
      const userCode = await retryOnCollision(async () => {
        const drawn = randomString(userCodeLength, random, userCodeAlphabet)
        const [name = ''] = keys.lookupDigests(drawn)
        return (await userCodes.claim(name, deviceCode, asked.expiresAt, owner)) ? drawn : undefined
      })
      return { deviceCode, userCode }
    },

    async find(deviceCode: string): Promise<DeviceAuthorization | undefined> {
      // Reject names of other values of this kind, such as the decision. Their names contain a space.
      return deviceCodeSyntax.test(deviceCode) ? requests.get(deviceCode) : undefined
    },

    /** Finds the request of a user code, and the name that the caller passes to `take` to consume the code. */
    async findByUserCode(typed: string) {
      const userCode = userCodeIn(typed)
      if (userCode === undefined) return undefined
      for (const name of keys.lookupDigests(userCode)) {
        const deviceCode = await userCodes.get(name)
        const asked = deviceCode && (await requests.get(deviceCode))
        if (asked) return { name, userCode, deviceCode, asked }
      }
      return undefined
    },

    /** Consumes a user code. At most one of several concurrent calls returns true. */
    async take(name: string, deviceCode: string): Promise<boolean> {
      return (await userCodes.take(name)) === deviceCode
    },

    /**
     * Stores that a user allows or refuses the device, before the consent is stored. The first decision is final.
     * @returns false if another user or another answer came first. Returns true for a repeated decision, because the
     * earlier request may have failed before `decide`
     */
    async beginDecision(
      deviceCode: string,
      asked: DeviceAuthorization,
      { userId, allowed }: Pick<DeviceDecision, 'userId' | 'allowed'>,
    ): Promise<boolean> {
      const begun = { userId, allowed, granted: null }
      const name = decisionOf(deviceCode)
      if (await decisions.claim(name, begun, keptUntil(asked))) return true
      const first = await decisions.get(name)
      return first?.userId === userId && first.allowed === allowed
    },

    decide(deviceCode: string, asked: DeviceAuthorization, decision: DeviceDecision) {
      return decisions.set(decisionOf(deviceCode), decision, keptUntil(asked))
    },

    /** Returns the decision of the user; undefined until the decision is complete. */
    async decision(deviceCode: string): Promise<DeviceDecision | undefined> {
      const found = await decisions.get(decisionOf(deviceCode))
      return found?.allowed && !found.granted ? undefined : found
    },

    /** Records a poll. If the poll came too early, lengthens the interval and returns true. */
    async isTooEarly(deviceCode: string, { expiresAt }: DeviceAuthorization): Promise<boolean> {
      const interval = (await intervals.get(intervalOf(deviceCode))) ?? pollInterval
      const until = (seconds: number): number => clock() + seconds * 1000 - tolerance
      if (await polls.claim(pollOf(deviceCode), true, until(interval))) return false
      const longer = interval + slowDown
      await intervals.set(intervalOf(deviceCode), longer, expiresAt)
      await polls.set(pollOf(deviceCode), true, until(longer))
      return true
    },

    /** Counts a wrong proof for a code, and returns the number of wrong proofs so far. */
    countFailure: (deviceCode: string, asked: DeviceAuthorization) =>
      requests.countFailure(deviceCode, keptUntil(asked)),

    requests,
  }
}
