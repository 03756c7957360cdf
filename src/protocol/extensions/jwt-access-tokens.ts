// RFC 9068: JWT Profile for OAuth 2.0 Access Tokens

import { bits256, type RandomSource, randomString } from '../../crypto/random.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { subjectIn } from '../../model/sector.ts'
import type { MintAccessToken } from '../../records/context.ts'
import type { SigningAlgorithm, SigningKeys } from '../../records/keys/signing-keys.ts'

interface Minting {
  readonly issuer: string
  readonly algorithm: SigningAlgorithm
  readonly signingKeys: SigningKeys
  readonly random: RandomSource
}

/** Creates JWT access tokens, which resource servers verify with the published keys. RFC 9068 §2. */
export const jwtMint =
  ({ issuer, algorithm, signingKeys, random }: Minting): MintAccessToken =>
  async (fields, store) => {
    const { clientId, userId, sector, scopes, resources, keyThumbprint, createdAt, expires } =
      fields
    const [only = issuer, ...others] = resources
    const claims = {
      iss: issuer,
      sub: userId === null ? clientId : await subjectIn(sector, userId, { signingKeys }),
      aud: others.length === 0 ? only : [only, ...others],
      client_id: clientId,
      iat: seconds(createdAt),
      exp: seconds(expires ?? createdAt),
      jti: randomString(bits256, random),
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      ...(keyThumbprint === null ? {} : { cnf: { jkt: keyThumbprint } }),
    }
    const token = await signingKeys.sign(claims, 'at+jwt', algorithm, store)
    if (token.length > maxLength)
      throw new OAuthError(
        'invalid_scope',
        `The access token would be longer than ${maxLength} characters: request fewer scopes.`,
      )
    return token
  }

/** The maximum number of characters. A client could not send a longer token in a header of 16 KB with other headers. */
const maxLength = 8_192

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)
