import type { ClientLogin } from '../../model/entities/client-login.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { Rows } from './rows.ts'

/** A login whose session ended, with the client to notify. */
export interface EndedLogin extends ClientLogin {
  /** The current ID of the client; undefined if the client was deleted. */
  readonly clientId: string | undefined
}

/**
 * Stores the logins of users at clients. The ID of a login is the ID of its authorization as a text; without an
 * authorization, it consists of `sid` and client. `insert` ignores a further login with the same ID.
 */
export interface ClientLoginStore
  extends Rows<ClientLogin, ClientLogin & { readonly id: string }>,
    Expiring {
  /** Deletes logins and returns them; with `hasEnded`, only those whose sessions no longer exist. */
  take(
    of:
      | { readonly session: string }
      | { readonly userId: UserId; readonly hasEnded?: boolean | undefined },
  ): Promise<readonly EndedLogin[]>
}
