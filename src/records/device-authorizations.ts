import type { SecretKind } from '../crypto/digest.ts'
import type { RandomSource } from '../crypto/random.ts'
import { randomString } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { CodeBinding } from '../model/authorization.ts'
import type { UserId } from '../model/user.ts'
import { userCodeAlphabet, userCodeIn, userCodeLength } from '../model/user-code.ts'
import { retryOnCollision } from './context.ts'
import type { TransientValues } from './transient-values.ts'

/** What a device asked for: kept under its device code. RFC 8628 §3.1. */
export interface DeviceAuthorization extends CodeBinding {
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** The decision of a user: kept beside the request, since the device polls meanwhile. */
export interface DeviceDecision {
  readonly userId: UserId
  readonly allowed: boolean
  /** Null where the user refused, and until the consent is stored. */
  readonly granted: { readonly scopes: readonly string[]; readonly consentId: string } | null
}

/** Seconds that a device code lives. */
export const deviceCodeExpiresIn = 600
/** Seconds between two polls, until a device polls faster. RFC 8628 §3.2. */
export const pollInterval = 5
/** Seconds that a device has to wait longer each time. RFC 8628 §3.5. */
const slowDown = 5
/** Milliseconds: a request may take longer than the next one, and the clocks of nodes differ. */
const tolerance = 500

const deviceCodeSyntax = /^[A-Za-z0-9]{43}$/

/** Until when a code that has expired is still known as one: milliseconds since the epoch. */
export const keptUntil = ({ expiresAt }: Pick<DeviceAuthorization, 'expiresAt'>): number =>
  expiresAt + deviceCodeExpiresIn * 1000

interface DeviceContext {
  readonly keys: KeyRing
  readonly clock: () => number
  readonly random: RandomSource
  transientValues<T>(kind: SecretKind): TransientValues<T>
}

/** Device codes and user codes, from the device's request to its redemption. */
export const deviceAuthorizations = ({ transientValues, keys, clock, random }: DeviceContext) => {
  const requests = transientValues<DeviceAuthorization>('device_code')
  const decisions = transientValues<DeviceDecision>('device_code')
  const intervals = transientValues<number>('device_code')
  const polls = transientValues<true>('device_code')
  const userCodes = transientValues<string>('user_code')
  const decisionOf = (deviceCode: string): string => `${deviceCode} decision`
  const intervalOf = (deviceCode: string): string => `${deviceCode} interval`
  const pollOf = (deviceCode: string): string => `${deviceCode} poll`

  return {
    /** Keeps what a device asks for. @returns its two codes */
    async begin(asked: DeviceAuthorization) {
      const deviceCode = await requests.put(asked, keptUntil(asked))
      const userCode = await retryOnCollision(async () => {
        const drawn = randomString(userCodeLength, random, userCodeAlphabet)
        const [name = ''] = keys.lookupDigests(drawn)
        return (await userCodes.claim(name, deviceCode, asked.expiresAt)) ? drawn : undefined
      })
      return { deviceCode, userCode }
    },

    async find(deviceCode: string): Promise<DeviceAuthorization | undefined> {
      // A name of one of the values beside it is no code.
      return deviceCodeSyntax.test(deviceCode) ? requests.get(deviceCode) : undefined
    },

    /** The device that waits for this user code, and the name by which the code can be taken. */
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

    /** Ends a user code by a decision on it: of concurrent ones, exactly one is true. */
    async take(name: string, deviceCode: string): Promise<boolean> {
      return (await userCodes.take(name)) === deviceCode
    },

    /**
     * Begins a decision: the first one is final. @returns false for another one; true also where the same one was
     * begun before and may not have been completed
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

    /** The decision of the user; undefined as long as it is not complete. */
    async decision(deviceCode: string): Promise<DeviceDecision | undefined> {
      const found = await decisions.get(decisionOf(deviceCode))
      return found?.allowed && !found.granted ? undefined : found
    },

    /** Notes a poll that found no decision yet. @returns whether it came too early, which makes the interval longer */
    async isTooEarly(deviceCode: string, { expiresAt }: DeviceAuthorization): Promise<boolean> {
      const interval = (await intervals.get(intervalOf(deviceCode))) ?? pollInterval
      const until = (seconds: number): number => clock() + seconds * 1000 - tolerance
      if (await polls.claim(pollOf(deviceCode), true, until(interval))) return false
      const longer = interval + slowDown
      await intervals.set(intervalOf(deviceCode), longer, expiresAt)
      await polls.set(pollOf(deviceCode), true, until(longer))
      return true
    },

    /** Counts wrong proofs; every caller gets another number. */
    countFailure: (deviceCode: string, asked: DeviceAuthorization) =>
      requests.countFailure(deviceCode, keptUntil(asked)),

    delete: (deviceCode: string) => requests.delete(deviceCode),

    digest: (deviceCode: string) => requests.digest(deviceCode),
  }
}
