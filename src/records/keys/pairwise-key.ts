import { exportJWK, generateSecret } from 'jose'
import { sha256 } from '../../crypto/digest.ts'
import { type StoredSigningKey, signingKeyClaims } from '../../model/entities/signing-key.ts'
import { StoreUnusable } from '../../store/contract/errors.ts'
import type { RecordsContext } from '../context.ts'

/** The algorithm of the only symmetric key in the table of signing keys. */
const algorithm = 'HS256'
/** All nodes use the same ID, so that only one insert succeeds. */
const id = sha256('pairwise key')

/** Returns whether a stored key is a key pair, whose public key is published. */
export const isKeyPair = (key: Pick<StoredSigningKey, 'algorithm'>): boolean =>
  key.algorithm !== algorithm

/**
 * Returns the secret key from which pairwise subjects are derived (OpenID Connect Core §8.1). Creates the key if it is
 * missing.
 * @throws StoreUnusable if the stored key was tampered with
 */
export const loadPairwiseKey = async ({
  store,
  keys,
  clock,
}: Pick<RecordsContext, 'store' | 'keys' | 'clock'>): Promise<Uint8Array> => {
  const find = async () => (await store.signingKeys.select({ id }))[0]
  let stored = await find()
  if (!stored) {
    const fields = { id, algorithm, publicKey: '{}', createdAt: clock() }
    const { k = '' } = await exportJWK(await generateSecret(algorithm, { extractable: true }))
    const key = { ...fields, privateKey: keys.seal('row', k, signingKeyClaims(fields)) }
    // Another node may have inserted the key concurrently.
    stored = (await store.signingKeys.insert(key)) ? key : await find()
  }
  const secret = stored && keys.open('row', stored.privateKey, signingKeyClaims(stored))
  if (secret === undefined)
    throw new StoreUnusable(
      'The key of pairwise subjects was tampered with, or sealed with another secret key.',
    )
  return Buffer.from(secret, 'base64url')
}
