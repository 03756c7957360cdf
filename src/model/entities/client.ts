import type { Digest } from '../../crypto/digest.ts'
import { validDescription, validName, validWebsite } from '../field-rules.ts'
import {
  blankOf,
  type ColumnsOf,
  claimsOf,
  entity,
  type InputOf,
  inputOf,
  picked,
  type RecordOf,
} from './entity.ts'
import {
  type Field,
  flag,
  given,
  having,
  list,
  nullable,
  number,
  optional,
  sealed,
  text,
  userKey,
} from './field.ts'

/** Every method by which a client can authenticate at the token endpoint. RFC 7591 §2. */
export const tokenEndpointAuthMethods = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
] as const

/** How the client authenticates at the token endpoint (`token_endpoint_auth_method`, RFC 7591 §2). */
export type TokenEndpointAuthMethod = (typeof tokenEndpointAuthMethods)[number]

/** The source of a client's data: its owner, dynamic registration, or a client ID metadata document. */
export type ClientOrigin = 'owner' | 'registration' | 'metadata_document'

/** A list of response types. A plus sign in the column stands for a space in a response type. */
const responseTypes = (): Field<readonly string[], string> => {
  const encode = (types: readonly string[]): string =>
    types.map((type) => type.replaceAll(' ', '+')).join(' ')
  const decode = (cell: string): readonly string[] =>
    cell === '' ? [] : cell.split(' ').map((type) => type.replaceAll('+', ' '))
  return { ...list(), encode, decode, claim: encode }
}

const off = () => having(flag(), { initial: false })
const none = { initial: [] } as const
const byCaller = { input: given } as const

/** The fields of a client, in the order of the claims. */
const fields = {
  /** The primary key of the row, which does not change when the client ID is reset. */
  clientKey: number(),
  clientId: text(),
  /** The digest of the client secret. The record does not contain the secret itself. */
  clientSecret: text<Digest>(),
  /** The digest of the former secret, which remains valid during the overlap after a reset; null without an overlap. */
  previousClientSecret: optional(text<Digest>()),
  /** The expiry of the former secret, in milliseconds since the epoch. */
  previousClientSecretExpires: optional(number()),
  name: having(text(), { initial: '', input: validName }),
  description: having(text(), { initial: '', input: validDescription }),
  website: having(text(), { initial: '', input: validWebsite }),
  /** The owner, who registered the client; null for a client without an owner. */
  userId: having(optional(userKey()), byCaller),
  isConfidential: having(flag(), { initial: true, ...byCaller }),
  /**
   * True for a client of the application itself, and for the hidden client of a personal token. The settings pages do
   * not show an internal client to its owner. The consent page shows an internal client as verified.
   */
  isInternal: having(off(), byCaller),
  /** True for the hidden client of a personal token, which no OAuth endpoint accepts. */
  isPersonal: off(),
  /** Whether an administrator has confirmed the identity of the client's operator. */
  isVerified: off(),
  /** Whether an administrator has disabled the client. The server refuses a disabled client and its tokens. */
  isDisabled: off(),
  /**
   * Whether an administrator pinned the client's metadata document. The server then uses the stored copy and does not
   * fetch the document again.
   */
  isPinned: off(),
  redirectUris: having(list('\n'), none),
  defaultScopes: having(list(), { ...none, ...byCaller }),
  /** Scopes that the user may decline on the consent page. */
  optionalScopes: having(list(), { ...none, ...byCaller }),
  /** The scopes that this client may request; null: every registered scope that is not internal. */
  allowedScopes: having(optional(list()), byCaller),
  grantTypes: having(optional(list()), byCaller),
  responseTypes: having(optional(responseTypes()), byCaller),
  tokenEndpointAuthMethod: having(optional(text<TokenEndpointAuthMethod>()), byCaller),
  /** The resource of the client's tokens if the client requests none; null: the setting `defaultResource`. */
  defaultResource: having(optional(text()), byCaller),
  origin: having(text<ClientOrigin>(), { initial: 'owner' }),
  /**
   * The registered public keys (RFC 7517 §5) as JSON; null without keys, or if the client publishes keys at `jwksUri`.
   */
  jwks: having(optional(text()), byCaller),
  /** The https URL of the public keys. */
  jwksUri: having(optional(text()), byCaller),
  /** The digest of the token with which the client manages its own registration (RFC 7592). */
  registrationToken: optional(text<Digest>()),
  /** The digest of the logo that the server fetched; null without a logo. Only a verified client has a logo. */
  logo: optional(text()),
  /**
   * Other client metadata (RFC 7591 §2) as JSON, and entries that the server adds: the time of a leak, and the time at
   * which a metadata document was last fetched. No permission depends on these values.
   */
  metadata: having(text(), { initial: '{}' }),
  /** Milliseconds since the epoch. */
  createdAt: number(),
}
/** The stored fields of a client application. */
export interface ClientFields extends RecordOf<typeof fields> {}
/** The fields of a client that a caller may set. */
export interface EditableFields extends InputOf<typeof fields> {}
export const clientInput = inputOf(fields)
/** The default fields of a client. */
export const blankClient = blankOf(fields)
export const clientClaims = claimsOf('client', fields)
const state = picked(fields, [
  'clientKey',
  'clientId',
  'name',
  'userId',
  'isDisabled',
  'allowedScopes',
])
/**
 * The claims of the columns of a client that a token look-up reads. These columns have a separate seal, so that the
 * look-up does not read the other columns.
 */
export const clientStateClaims = claimsOf('client_state', state)

const row = {
  fields,
  /** The seal of the row, which detects changes that were not made by the server. */
  seal: sealed(({ fields }: { fields: ClientFields }) => clientClaims(fields)),
  /** The seal of the fields that a token look-up reads. */
  stateSeal: sealed(({ fields }: { fields: ClientFields }) => clientStateClaims(fields)),
}

export interface SealedClient extends RecordOf<typeof row> {}
export const clientCodec = entity('oauth2server_client', row, {
  key: ['client_key'],
  apart: {
    /** Tokens of `client_credentials` with this ID or a lower ID are invalid. */
    ownTokensUntil: nullable(number()),
  },
})
export type ClientRow = ColumnsOf<typeof clientCodec>
