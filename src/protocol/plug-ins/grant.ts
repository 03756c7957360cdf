import type { HttpRequest } from '../../http/request.ts'
import type { Client } from '../../model/client.ts'
import type { ParameterList, Parameters } from '../../model/parameters.ts'
import type { ClientRedemption, Redemption } from '../../model/redemption.ts'
import type { Settings } from '../../settings/settings.ts'

/** A token request after its client was authenticated. RFC 6749 §4. */
export interface TokenRequest {
  readonly client: Client
  readonly params: Parameters
  readonly http: HttpRequest
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The result of the grant's `lookUp`. */
  readonly found?: Promise<unknown> | undefined
}

/** The properties of every grant. */
interface GrantProperties<Server> {
  readonly type: string
  /** Returns whether the settings enable the grant. Without this function, the grant is enabled with its extension. */
  isOn?(settings: Settings): boolean
  /**
   * Whether the grant works without the consent of a user. If so, a client cannot choose the grant in a registration
   * without an initial access token, or in a client metadata document. The default is false.
   */
  readonly worksWithoutConsent?: boolean
  /** The parameters of the grant. The server refuses a request that repeats a parameter. */
  readonly parameters: ParameterList
  /** Finds the client of a request without client authentication. Returns undefined if the client must authenticate. */
  findClient?(
    request: Pick<TokenRequest, 'params' | 'http'>,
    server: Server,
  ): Promise<Client | undefined>
  /** Additional members of the token response (RFC 6749 §5.1). */
  readonly response?: Readonly<Record<string, unknown>>
  /**
   * Looks up the presented token or code while the server authenticates the client. The result is used only if the
   * authentication succeeds.
   */
  lookUp?(params: Parameters, server: Server): Promise<unknown> | undefined
}

/** A grant that acts for a user, or exchanges a token. */
interface UserGrant<Server> extends GrantProperties<Server> {
  readonly actsForClient?: false
  /** Redeems a request. @throws OAuthError without consuming anything */
  redeem(request: TokenRequest, server: Server): Promise<Exclude<Redemption, ClientRedemption>>
}

/** A grant with which a client acts on its own behalf. */
interface ClientGrant<Server> extends GrantProperties<Server> {
  /**
   * Only confidential clients may use the grant (RFC 6749 §4.4). Expired tokens of this grant leave no trace, so a
   * client with this grant is never deleted as unused.
   */
  readonly actsForClient: true
  /** Redeems a request. @throws OAuthError without consuming anything */
  redeem(request: TokenRequest, server: Server): Promise<ClientRedemption>
}

/** Redeems token requests of one `grant_type`: determines the user and the rights, but does not create tokens. */
export type GrantFor<Server> = UserGrant<Server> | ClientGrant<Server>
