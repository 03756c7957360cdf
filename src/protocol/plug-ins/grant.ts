import type { HttpRequest } from '../../http/request.ts'
import type { Client } from '../../model/client.ts'
import type { Parameters } from '../../model/parameters.ts'
import type { Redemption } from '../../model/redemption.ts'
import type { Settings } from '../../settings/settings.ts'

/** A token request after its client was authenticated. RFC 6749 §4. */
export interface TokenRequest {
  readonly client: Client
  readonly params: Parameters
  readonly http: HttpRequest
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Redeems a token request: decides who may have what, and never mints. One per `grant_type`. */
export interface GrantFor<Server> {
  readonly type: string
  /** Returns whether the settings switch it on. A grant of an extension may leave it out: it is on with its extension. */
  isOn?(settings: Settings): boolean
  /** The parameters it reads, which must not be given twice. */
  readonly parameters: readonly string[]
  /** The client of a request that needs no client authentication; undefined: it has to authenticate as any other. */
  findClient?(
    request: Pick<TokenRequest, 'params' | 'http'>,
    server: Server,
  ): Promise<Client | undefined>
  /** Members of its answer beside those of RFC 6749 §5.1. */
  readonly answer?: Readonly<Record<string, unknown>>
  /** @throws OAuthError; nothing is consumed then */
  redeem(request: TokenRequest, server: Server): Promise<Redemption>
}
