import { type CryptoKey, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { sha256 } from '../../crypto/digest.ts'
import { type StoredSigningKey, signingKeyClaims } from '../../model/entities/signing-key.ts'
import type { JwtPayload } from '../../model/verify-jwt.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Store } from '../../store/store.ts'
import type { RecordsContext } from '../context.ts'
import { isKeyPair, loadPairwiseKey } from './pairwise-key.ts'
import { requiredAlgorithms } from './required-algorithms.ts'

/** The algorithms of the keys that sign tokens. */
export type SigningAlgorithm = Settings['signingAlgorithm']

/** Milliseconds for which a new key is published before it signs. Caches may store the published keys for 5 minutes. */
const publishedBefore = 3_600_000
/** Milliseconds for which a process caches the keys. */
const remembered = 30_000
/** The minimum time for which a former key remains published, in milliseconds, even if tokens are short-lived. */
const keptAtLeast = 86_400_000
/** The maximum number of attempts to create the next key while other nodes also create keys. */
const maxAttempts = 5
const hour = 3_600_000

/** A public key as a JSON Web Key. RFC 7517 §4. */
interface PublicKey {
  readonly [member: string]: unknown
  readonly kty: string
  readonly kid: string
  readonly alg: string
  readonly use: string
}

/** A key pair whose seal is valid. */
interface SigningKey extends Omit<StoredSigningKey, 'privateKey' | 'publicKey'> {
  readonly publicKey: PublicKey
  readonly privateKey: CryptoKey
}

/** The parts of the server that signing keys use. */
type Context = Pick<RecordsContext, 'store' | 'settings' | 'keys' | 'clock' | 'log' | 'audit'>

/**
 * The keys that sign tokens, such as JWT access tokens and ID tokens. One key of each algorithm signs at a time. The
 * first key of an algorithm signs immediately. A later key is published an hour before it signs. A key remains
 * published until the last token that it signed has expired.
 */
export class SigningKeys {
  readonly #context: Context
  #known: { readonly keys: readonly SigningKey[]; readonly until: number } | undefined
  #loading: Promise<readonly SigningKey[]> | undefined
  #pairwise: Uint8Array | undefined

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Signs a JWT of the given type with the current key of an algorithm.
   * @param store the store of the caller, which may belong to a transaction
   */
  async sign(
    payload: JwtPayload,
    type: string,
    algorithm: SigningAlgorithm,
    store: Context['store'] = this.#context.store,
  ): Promise<string> {
    const { clock } = this.#context
    const own = (await this.#usable(store)).filter((key) => key.algorithm === algorithm)
    const isKnownToAll = ({ createdAt }: SigningKey) => createdAt + publishedBefore <= clock()
    // The first key signs immediately.
    const key = own.find(isKnownToAll) ?? own.at(-1)
    if (!key) throw new Error('No signing key exists.')
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.algorithm, typ: type, kid: key.id })
      .sign(key.privateKey)
  }

  /** Returns the secret key from which pairwise subjects are derived. The key is created once and never replaced. */
  async pairwiseKey(): Promise<Uint8Array> {
    this.#pairwise ??= await loadPairwiseKey(this.#context)
    return this.#pairwise
  }

  /** Returns the public keys as a JWK set, the newest first. RFC 7517 §5. */
  async published(): Promise<{ readonly keys: readonly PublicKey[] }> {
    const usable = await this.#usable(this.#context.store)
    return { keys: usable.map(({ publicKey }) => publicKey) }
  }

  /**
   * Deletes the replaced keys whose last token has expired.
   * @returns the number of deleted keys
   */
  async deleteRetired(): Promise<number> {
    const retired = await this.retired()
    return this.#context.store.signingKeys.delete({ id: retired.map(({ id }) => id) })
  }

  /** Lists the replaced keys whose last token has expired. */
  async retired(): Promise<readonly { readonly id: string }[]> {
    const { store, settings, clock } = this.#context
    const kept = Math.max(settings.tokenExpiresIn * 1000, keptAtLeast)
    const required = requiredAlgorithms(settings)
    const all = (await store.signingKeys.select()).filter(isKeyPair)
    // Keys that have signed for so long that every token of an older key has expired.
    const successors = all.filter(
      ({ algorithm, createdAt }) =>
        required.some((one) => one === algorithm) &&
        createdAt + publishedBefore + remembered + kept <= clock(),
    )
    // A key of an algorithm that no setting requires any more is replaced by a key of any required algorithm.
    const replaces = (former: StoredSigningKey) => (key: StoredSigningKey) =>
      key.createdAt > former.createdAt &&
      (key.algorithm === former.algorithm || !required.some((one) => one === former.algorithm))
    return all.filter((key) => successors.some(replaces(key)))
  }

  async #usable(store: Context['store']): Promise<readonly SigningKey[]> {
    if (this.#known && this.#context.clock() < this.#known.until) return this.#known.keys
    // Inside a transaction, do not cache the keys, because the transaction may be rolled back. Do not wait for a load
    // in progress, because the transactions could deadlock.
    if (store !== this.#context.store) return this.#load(store)
    this.#loading ??= this.#load(store)
      .then((keys) => {
        this.#known = { keys, until: this.#context.clock() + remembered }
        return keys
      })
      .finally(() => {
        this.#loading = undefined
      })
    return this.#loading
  }

  /** Loads all keys. Creates a key of each required algorithm whose newest key is missing or too old. */
  async #load(store: Store): Promise<readonly SigningKey[]> {
    const { settings, clock, audit } = this.#context
    const required = requiredAlgorithms(settings)
    for (let attempt = 0; attempt < maxAttempts * required.length; attempt += 1) {
      const order = { by: ['createdAt', 'id'], isReversed: true } as const
      const rows = await store.signingKeys.select({}, order)
      const keys = await this.#opened(rows.filter(isKeyPair))
      const newestOf = (name: string) => keys.find(({ algorithm }) => algorithm === name)
      const isNew = (name: string) => {
        const newest = newestOf(name)
        return newest && clock() - newest.createdAt < settings.signingKeyExpiresIn * 1000
      }
      const algorithm = required.find((name) => !isNew(name))
      if (algorithm === undefined) return keys
      const key = await this.#newKey(algorithm, newestOf(algorithm)?.id, attempt)
      await store.transaction(async (tx) => {
        if (await tx.signingKeys.insert(key))
          await audit.add(tx, 'signing_key.created', { subject: key.id, details: {} })
      })
    }
    throw new Error(
      'No signing key could be created: the stored keys were tampered with, or sealed with another secret key.',
    )
  }

  // All nodes derive the same ID for the successor of a key, so that only one insert succeeds.
  async #newKey(
    algorithm: SigningAlgorithm,
    former: string | undefined,
    attempt: number,
  ): Promise<StoredSigningKey> {
    const { keys, clock } = this.#context
    const pair = await generateKeyPair(algorithm, { extractable: true })
    const createdAt = clock()
    const follows = former ?? Math.floor(createdAt / hour)
    const key = {
      id: sha256(['signing key', algorithm, follows, attempt].join(' ')),
      algorithm,
      publicKey: JSON.stringify(await exportJWK(pair.publicKey)),
      createdAt,
    }
    const secret = JSON.stringify(await exportJWK(pair.privateKey))
    return { ...key, privateKey: keys.seal('row', secret, signingKeyClaims(key)) }
  }

  async #opened(rows: readonly StoredSigningKey[]): Promise<readonly SigningKey[]> {
    const opened: SigningKey[] = []
    for (const row of rows) {
      const { id, algorithm, createdAt } = row
      const secret = this.#context.keys.open('row', row.privateKey, signingKeyClaims(row))
      if (secret === undefined) {
        // Do not publish the key. Otherwise, an attacker who wrote the row could sign tokens that resource servers accept.
        this.#context.log({
          level: 'error',
          event: 'signing_key.tampered',
          message:
            'A signing key was tampered with, or sealed with another secret key; the server neither uses nor publishes the key.',
          keyId: id,
        })
        continue
      }
      const before = this.#known?.keys.find((key) => key.id === id)
      const privateKey =
        before?.privateKey ?? ((await importJWK(JSON.parse(secret), algorithm)) as CryptoKey)
      const publicKey = { ...JSON.parse(row.publicKey), kid: id, alg: algorithm, use: 'sig' }
      opened.push({ id, algorithm, createdAt, publicKey, privateKey })
    }
    return opened
  }
}
